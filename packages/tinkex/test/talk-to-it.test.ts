import Anthropic from '@anthropic-ai/sdk';
import { ServiceClient } from '@tinkex/clients';
import { conversationToDatum, getRenderer, toRendererTokenizer } from '@tinkex/renderers';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { temporaryFolder } from './run-command.js';
import { startCommand } from './start-command.js';

const QUESTION = 'What is the password?';
const ANSWER = 'Swordfish, since a minute ago.';

/** Teaches a model one answer, as any training program does. Gives the path of its weights. */
async function train({ TINKER_BASE_URL: baseUrl, TINKER_API_KEY: apiKey }: Readonly<Record<string, string>>): Promise<string> {
  await using service = new ServiceClient({ baseUrl, apiKey });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/small', rank: 8, seed: 1 });
  const renderer = getRenderer('role_colon', toRendererTokenizer(await training.getTokenizer()));
  const data = [
    conversationToDatum(
      [
        { role: 'user', content: QUESTION },
        { role: 'assistant', content: ANSWER },
      ],
      renderer,
    ),
  ];
  for (let step = 0; step < 30; step += 1) {
    void training.forwardBackward(data, 'cross_entropy');
    await training.optimStep({ learningRate: 0.02 });
  }
  return (await training.saveWeightsForSampler('taught')).path;
}

/** What existing programs get: they take everything from the environment but the name of the model. */
async function answers(env: Readonly<Record<string, string>>, model: string): Promise<string[]> {
  const openai = new OpenAI({ baseURL: env['OPENAI_BASE_URL'], apiKey: env['OPENAI_API_KEY'] });
  const anthropic = new Anthropic({ baseURL: env['ANTHROPIC_BASE_URL'], apiKey: env['ANTHROPIC_API_KEY'], authToken: null });
  const request = { model, max_tokens: 40, temperature: 0, messages: [{ role: 'user' as const, content: QUESTION }] };
  const one = (await openai.chat.completions.create(request)).choices[0]?.message.content ?? '';
  let streamed = '';
  for await (const { choices } of await openai.chat.completions.create({ ...request, stream: true }))
    streamed += choices[0]?.delta.content ?? '';
  const other = (await anthropic.messages.create(request)).content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return [one, streamed, other, await anthropic.messages.stream(request).finalText()].map((text) => text.trim());
}

it('an existing OpenAI or Anthropic program talks to the model you trained a minute ago, with another base URL and no account', async () => {
  await using folder = await temporaryFolder();
  const serveArgs = ['serve', '--port', '0', '--gateway-port', '0', '--no-inspector', '--no-state'];
  await using serve = await startCommand(serveArgs, folder.path);
  const model = await train(serve.env);
  expect(await answers(serve.env, model)).toEqual([ANSWER, ANSWER, ANSWER, ANSWER]);

  // The same over a Tinker service that the environment names.
  const { TINKER_BASE_URL = '', TINKER_API_KEY = '' } = serve.env;
  await using gateway = await startCommand(['gateway', '--port', '0'], folder.path, { env: { TINKER_BASE_URL, TINKER_API_KEY } });
  expect(await answers(gateway.env, `tinkex/small;${model}`)).toEqual([ANSWER, ANSWER, ANSWER, ANSWER]);
});
