import { readdirSync, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectSuccess } from './both-ways.js';
import { sources } from './program-files.js';
import { runProgram, temporaryOutput } from './run-program.js';

/** Runs a recipe on the embedded engine and gives what it printed. */
async function outputOf(name: string, args: readonly string[] = []): Promise<string> {
  await using out = await temporaryOutput();
  const ended = await runProgram(name, { out: out.path, args });
  expectSuccess(ended);
  for (const file of ['config.json', 'metrics.jsonl', 'checkpoints.jsonl']) await access(join(out.path, 'runs', name, file));
  return ended.stdout;
}

/** The two numbers of a line such as `loss: 4.9 → 0.02`. */
function changeOf(output: string, label: string): { readonly from: number; readonly to: number } {
  const [, from, to] = new RegExp(`^${label}: (\\d+\\.\\d+) → (\\d+\\.\\d+)$`, 'm').exec(output) ?? [];
  return { from: Number(from), to: Number(to) };
}

describe('recipes', () => {
  it('chat-sl learns from conversations, and gets better at those it never saw', async () => {
    const { from, to } = changeOf(await outputOf('chat-sl', ['--epochs', '3']), 'Held-out loss');
    expect(to).toBeLessThan(from / 5);
  });

  it('dpo prefers what was preferred', async () => {
    const output = await outputOf('dpo');
    expect(changeOf(output, 'loss').from).toBeCloseTo(Math.LN2, 2);
    expect(changeOf(output, 'loss').to).toBeLessThan(0.5);
    expect(output).toContain('Prefers the better answer in 100 % of the pairs');
  });

  it('prompt-distillation answers without the instruction as with it', async () => {
    expect(await outputOf('prompt-distillation')).toContain('Same answer without the instruction: 9 of 9');
  });

  it('fit on one screen: at most 60 lines', () => {
    const recipes = readdirSync(sources).filter(
      (file) => file.endsWith('.ts') && readFileSync(join(sources, file), 'utf8').includes('./shared/recipe.js'),
    );
    expect(recipes.length).toBeGreaterThanOrEqual(3);
    for (const file of recipes)
      expect(readFileSync(join(sources, file), 'utf8').trimEnd().split('\n').length, file).toBeLessThanOrEqual(60);
  });
});
