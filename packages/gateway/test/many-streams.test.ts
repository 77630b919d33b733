import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import { officialClients } from './harness/clients.js';
import { expectLegalChunks } from './harness/legal-order.js';
import { moment } from './harness/moment.js';
import { scriptedModel } from './harness/scripted-model.js';

const STREAMS = 500;

it(`serves ${STREAMS} streams at the same time, each with its own answer`, async () => {
  const allThere = moment();
  const model = scriptedModel((prompt) => `You are number ${/Number (\d+)\./.exec(prompt)?.[1]}.<|im_end|>`);
  model.sampler.onSample = () => {
    if (model.sampler.inputs.length === STREAMS) allThere.reach();
    return allThere.reached;
  };
  const { openai } = officialClients({ models: { m: model }, pieceTokens: 4 });
  const answers = await Promise.all(
    Array.from({ length: STREAMS }, async (_, number) => {
      const messages = [{ role: 'user' as const, content: `Number ${number}.` }];
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of await openai.chat.completions.create({ model: 'm', messages, stream: true })) chunks.push(chunk);
      expectLegalChunks(chunks);
      return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    }),
  );
  expect(answers).toEqual(Array.from({ length: STREAMS }, (_, number) => `You are number ${number}.`));
});
