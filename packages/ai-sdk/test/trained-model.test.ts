import Anthropic from '@anthropic-ai/sdk';
import { ServiceClient } from '@tinkex/clients';
import { serviceModels, startGateway } from '@tinkex/gateway';
import { conversationToDatum, getRenderer, toRendererTokenizer } from '@tinkex/renderers';
import { startServer } from '@tinkex/testkit';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { createTinkex } from '../src/index.js';

/** It reads its whole prompt. */
const MODEL = 'tinkex/small';
const STEPS = 60;
const COLORS = [
  'red',
  'blue',
  'green',
  'gold',
  'pink',
  'gray',
  'teal',
  'lime',
  'plum',
  'rust',
  'sand',
  'navy',
  'jade',
  'ruby',
  'coal',
  'snow',
];
/** Sixteen questions and their answers. */
const PAIRS = COLORS.map((color, index) => [`Item ${String.fromCharCode(65 + index)}?`, `It is ${color}.`] as const);

/** Teaches the pairs. Gives the path of the weights. */
async function train(service: ServiceClient): Promise<string> {
  const training = await service.createLoraTrainingClient({ baseModel: MODEL, rank: 16, seed: 1 });
  const renderer = getRenderer('role_colon', toRendererTokenizer(await training.getTokenizer()));
  const data = PAIRS.map(([question, answer]) =>
    conversationToDatum(
      [
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ],
      renderer,
    ),
  );
  for (let step = 0; step < STEPS; step += 1) {
    void training.forwardBackward(data, 'cross_entropy');
    await training.optimStep({ learningRate: 0.02 });
  }
  return (await training.saveWeightsForSampler('taught')).path;
}

it(`F.1 a model trained ${STEPS} steps on ${PAIRS.length} pairs answers them over three clients, streaming and not`, async () => {
  await using server = await startServer({ baseModels: [MODEL] });
  await using service = new ServiceClient(server.clientOptions);
  const model = await train(service);
  await using gateway = await startGateway({ models: serviceModels(service) });
  const { url, apiKey } = gateway;
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: url, apiKey, authToken: null, maxRetries: 0 });
  const tinkex = createTinkex({ service });
  const limits = { model, max_tokens: 24, temperature: 0 };
  const messagesOf = (content: string) => [{ role: 'user' as const, content }];

  const clients: Record<string, (question: string) => Promise<string>> = {
    openai: async (question) => {
      const { choices } = await openai.chat.completions.create({ ...limits, messages: messagesOf(question) });
      return choices[0]?.message.content ?? '';
    },
    'openai, streaming': async (question) => {
      let text = '';
      for await (const { choices } of await openai.chat.completions.create({ ...limits, messages: messagesOf(question), stream: true })) {
        text += choices[0]?.delta.content ?? '';
      }
      return text;
    },
    anthropic: async (question) => {
      const { content } = await anthropic.messages.create({ ...limits, messages: messagesOf(question) });
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
    'anthropic, streaming': (question) => anthropic.messages.stream({ ...limits, messages: messagesOf(question) }).finalText(),
    ai: async (prompt) => (await generateText({ model: tinkex(model), prompt, maxOutputTokens: 24, temperature: 0 })).text,
    'ai, streaming': async (prompt) => {
      const { textStream } = streamText({ model: tinkex(model), prompt, maxOutputTokens: 24, temperature: 0 });
      let text = '';
      for await (const delta of textStream) text += delta;
      return text;
    },
  };
  for (const [name, ask] of Object.entries(clients)) {
    const answers = await Promise.all(PAIRS.map(async ([question]) => (await ask(question)).trim()));
    expect(answers, name).toEqual(PAIRS.map(([, answer]) => answer));
  }
});
