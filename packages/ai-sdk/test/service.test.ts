import { ServiceClient } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';
import { generateText, streamText } from 'ai';
import { expect, it } from 'vitest';
import { createTinkex } from '../src/index.js';

it('samples from a service; the streamed answer equals the whole one where nothing is random', async () => {
  await using server = await startServer();
  await using service = new ServiceClient(server.clientOptions);
  const model = createTinkex({ service, pieceTokens: 4 })('tinkex/tiny');
  const settings = { model, prompt: 'Hello', maxOutputTokens: 12, temperature: 0 };
  const whole = await generateText(settings);
  expect(whole.usage.outputTokens).toBeLessThanOrEqual(12);
  const { textStream, usage } = streamText(settings);
  let text = '';
  for await (const delta of textStream) text += delta;
  expect(text).toBe(whole.text);
  expect((await usage).outputTokens).toBe(whole.usage.outputTokens);
  await expect(generateText({ ...settings, model: createTinkex({ service })('no/such-model') })).rejects.toThrow('no/such-model');
});
