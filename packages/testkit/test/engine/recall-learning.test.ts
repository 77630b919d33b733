import { describe, expect, it } from 'vitest';
import { addByReward, answerLongQuestions, copyNamedWord, distill, prefer, recite } from './recall-tasks.js';

/** `npm run learning` runs five seeds at full size; otherwise it is one, with shorter contexts. */
const isFull = process.env['TINKEX_LEARNING_SEEDS'] !== undefined;
const seeds = Array.from({ length: Number(process.env['TINKEX_LEARNING_SEEDS'] ?? 1) }, (_, index) => index + 1);

function report<T>(task: string, seed: number, value: T): T {
  if (isFull) console.log(`seed ${seed}: ${task} ${JSON.stringify(value)}`);
  return value;
}

describe.each(seeds)('the recall model learns, with seed %i', (seed) => {
  it('to recite ten sentences in thirty steps', async () => {
    expect(report('recite', seed, await recite(seed))).toBe(1);
  });

  it('the answers to long questions that differ only at their start', async () => {
    expect(report('answer', seed, await answerLongQuestions(seed, { length: isFull ? 200 : 60 }))).toBeLessThan(0.2);
  });

  it('to copy a named word from anywhere in its context, though it never saw the name or the word', async () => {
    expect(report('copy', seed, await copyNamedWord(seed, isFull ? {} : { length: 300, questions: 20 }))).toBeGreaterThanOrEqual(0.95);
  });

  it('to add single digits by reward', async () => {
    const { before, after } = report('add', seed, await addByReward(seed));
    expect(before).toBeLessThanOrEqual(0.15);
    expect(after).toBeGreaterThanOrEqual(0.9);
  });

  it('which of two answers is preferred', async () => {
    expect(report('prefer', seed, await prefer(seed))).toBeGreaterThanOrEqual(0.95);
  });

  it('to answer as its teacher does, from its own samples', async () => {
    const { before, after } = report('distill', seed, await distill(seed));
    expect(before).toBeGreaterThan(1);
    expect(after).toBeLessThan(0.05);
  });
});
