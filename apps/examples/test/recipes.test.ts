import { readdirSync, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { itBothWays, type Result } from './both-ways.js';
import { changeOf } from './printed.js';
import { sources } from './program-files.js';

interface RecipeTest {
  readonly name: string;
  readonly behaviour: string;
  readonly argsWhenBusy?: readonly string[] | undefined;
  readonly check: (result: Result) => void;
}

/** A recipe must learn on both servers, and leave a run folder that the inspector and Python read. */
function itLearns({ name, behaviour, argsWhenBusy, check }: RecipeTest): void {
  itBothWays({
    example: name,
    behaviour,
    model: /'tinkex\/small'/.test(readFileSync(join(sources, `${name}.ts`), 'utf8')) ? 'tinkex/small' : undefined,
    argsWhenBusy,
    async check(result) {
      const folder = join(result.out, 'runs', name);
      for (const file of ['config.json', 'metrics.jsonl', 'checkpoints.jsonl']) await access(join(folder, file));
      await access(join(result.out, `${name}.svg`));
      check(result);
    },
  });
}

// What exactly the embedded engine reaches may change with it: the tests ask for clear progress.
itLearns({
  name: 'twenty-questions',
  behaviour: 'finds the secret more often than a guess does',
  argsWhenBusy: ['--steps', '10'],
  check: ({ stdout }) => expect(changeOf(stdout, 'found').to).toBeGreaterThan(changeOf(stdout, 'found').from + 0.1),
});

itLearns({
  name: 'tool-use',
  behaviour: 'looks a price up before it pays',
  argsWhenBusy: ['--steps', '5'],
  check: ({ stdout }) => {
    expect(changeOf(stdout, 'reward').to).toBeGreaterThan(changeOf(stdout, 'reward').from + 0.2);
    expect(Number(/^Turns per purchase: (.+)$/m.exec(stdout)?.[1])).toBeGreaterThan(1.5);
  },
});

itLearns({
  name: 'rubric',
  behaviour: 'answers as the judge likes it',
  argsWhenBusy: ['--steps', '6'],
  check: ({ stdout }) => expect(changeOf(stdout, 'score').to).toBeGreaterThan(changeOf(stdout, 'score').from + 0.2),
});

itLearns({
  name: 'math-rl',
  behaviour: 'learns to add',
  argsWhenBusy: ['--steps', '6', '--loss', 'ppo'],
  check: ({ stdout }) => expect(changeOf(stdout, 'correct').to).toBeGreaterThan(changeOf(stdout, 'correct').from + 0.1),
});

itLearns({
  name: 'distillation',
  behaviour: 'comes closer to its teacher',
  argsWhenBusy: ['--steps', '6'],
  check: ({ stdout }) => {
    const { from, to } = changeOf(stdout, 'distance from the teacher');
    expect(to).toBeLessThan(from / 2);
    expect(Number(/^Right: (\d) of 8$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(6);
  },
});

itLearns({
  name: 'chat-sl',
  behaviour: 'learns from conversations, and gets better at those it never saw',
  argsWhenBusy: ['--epochs', '3'],
  check: ({ stdout }) => {
    const { from, to } = changeOf(stdout, 'Held-out loss');
    expect(to).toBeLessThan(from / 5);
  },
});

itLearns({
  name: 'dpo',
  behaviour: 'prefers what was preferred',
  check: ({ stdout }) => {
    expect(changeOf(stdout, 'loss').from).toBeCloseTo(Math.LN2, 2);
    expect(changeOf(stdout, 'loss').to).toBeLessThan(0.5);
    expect(stdout).toContain('Prefers the better answer in 100 % of the pairs');
  },
});

itLearns({
  name: 'prompt-distillation',
  behaviour: 'answers without the instruction as with it',
  check: ({ stdout }) => expect(stdout).toContain('Same answer without the instruction: 9 of 9'),
});

it('recipes fit on one screen: at most 60 lines', () => {
  const recipes = readdirSync(sources).filter(
    (file) => file.endsWith('.ts') && readFileSync(join(sources, file), 'utf8').includes('./shared/recipe.js'),
  );
  expect(recipes).toEqual(
    expect.arrayContaining(
      ['chat-sl', 'math-rl', 'dpo', 'distillation', 'tool-use', 'twenty-questions', 'rubric', 'prompt-distillation'].map(
        (name) => `${name}.ts`,
      ),
    ),
  );
  for (const file of recipes) expect(readFileSync(join(sources, file), 'utf8').trimEnd().split('\n').length, file).toBeLessThanOrEqual(60);
});
