import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRunOrigin, writeRunOrigin } from './run-origin.js';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tinkex-origin-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('the origin of a run', () => {
  const config = { recipe: 'rl', model: 'tinkex/tiny', data: 'sums.jsonl', logPath: 'runs/sums', maxTokens: 8 } as const;

  it('is what the run was started with, wherever the command runs', async () => {
    await writeRunOrigin(folder, { config: { ...config, grade: 'math' }, folder: join(folder, '..') });
    expect(await readRunOrigin(folder)).toMatchObject({
      config: { ...config, grade: 'math', logPath: folder },
      folder: join(folder, '..'),
    });
  });

  it('refuses a run whose rewards came from a function, instead of grading it differently', async () => {
    await writeRunOrigin(folder, { config: { ...config, grade: () => 1 }, folder });
    await expect(readRunOrigin(folder)).rejects.toThrow(/function \(grade\).*cannot store/);
  });
});
