import { expect, it } from 'vitest';
import { conversationToDatum, fromOpenAI, rendererForModel, toOpenAI } from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { conversationOf, isRefusal, readVectors, type VectorFile } from './harness/vectors.js';

/** `[weight, count, …]` as one weight per token. */
function perToken(runs: readonly number[]): number[] {
  return runs.flatMap((weight, index) => (index % 2 === 0 ? new Array<number>(runs[index + 1] as number).fill(weight) : []));
}

it('a line of an OpenAI file becomes the IDs and weights of the reference, on the real vocabulary of Qwen/Qwen3-8B', () => {
  const { cases, tokenizer } = readVectors<VectorFile>('qwen3@qwen3');
  const renderer = rendererForModel('Qwen/Qwen3-8B', tokenizerOf(tokenizer));
  let compared = 0;
  for (const vector of cases) {
    const { conv, sup } = vector;
    const { messages } = conversationOf(vector);
    const isPlain = messages.every(({ content, trainable }) => typeof content === 'string' && trainable === undefined);
    if (conv === undefined || sup === undefined || isRefusal(sup) || !isPlain) continue;
    const line = JSON.stringify(toOpenAI({ messages }));
    const weights = sup.w['all_assistant_messages'];
    if (!Array.isArray(weights)) continue;
    const trained = perToken(weights as readonly number[]).slice(1);
    const conversation = fromOpenAI(JSON.parse(line), conv);
    const { modelInput, lossFnInputs } = conversationToDatum(conversation.messages, renderer, { reduction: 'none' });
    expect(Array.from(modelInput.toInts()), conv).toEqual(sup.t.slice(0, -1));
    expect(Array.from(lossFnInputs.targetTokens?.toArray() ?? [], Number), conv).toEqual(sup.t.slice(1));
    expect(Array.from(lossFnInputs.weights?.toArray() ?? []), conv).toEqual(trained);
    const mean = conversationToDatum(conversation.messages, renderer).lossFnInputs.weights?.toArray() ?? [];
    const sum = trained.reduce((total, weight) => total + weight, 0);
    expect(Array.from(mean, Number), conv).toEqual(trained.map((weight) => Math.fround(sum > 0 ? weight / sum : weight)));
    compared += 1;
  }
  expect(compared).toBeGreaterThan(10);
});
