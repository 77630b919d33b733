import { describe, expect, it } from 'vitest';
import { answerLongQuestions, prefer, recite } from './recall-tasks.js';

/** `pnpm learning` runs five seeds at full size; otherwise it is one, with shorter questions. */
const isFull = process.env['TINKEX_LEARNING_SEEDS'] !== undefined;
const seeds = Array.from({ length: Number(process.env['TINKEX_LEARNING_SEEDS'] ?? 1) }, (_, index) => index + 1);

describe.each(seeds)('the recall model learns, with seed %i', (seed) => {
  it('to recite ten sentences in thirty steps', async () => {
    expect(await recite(seed)).toBe(1);
  });

  it('the answers to long questions that differ only at their start', async () => {
    expect(await answerLongQuestions(seed, { length: isFull ? 200 : 60 })).toBeLessThan(0.2);
  });

  it('which of two answers is preferred', async () => {
    expect(await prefer(seed)).toBeGreaterThanOrEqual(0.95);
  });
});
