import { request } from 'node:http';
import { ServiceClient } from '@tinkex/clients';
import { getRenderer, toRendererTokenizer } from '@tinkex/renderers';
import { startServer } from '@tinkex/testkit';
import { datum, ModelInput } from '@tinkex/types';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { serviceModels, startGateway, verifyServing } from '../src/index.js';

/** Teaches a model what to say after a text. */
async function train(service: ServiceClient, prompt: string, answer: string): Promise<string> {
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 8 });
  const tokenizer = await training.getTokenizer();
  const renderer = getRenderer('role_colon', toRendererTokenizer(tokenizer));
  const { modelInput, weights } = renderer.buildSupervisedExample([
    { role: 'user', content: prompt },
    { role: 'assistant', content: answer },
  ]);
  const tokens = Array.from(modelInput.toInts());
  const data = [
    datum({
      modelInput: ModelInput.fromInts(tokens.slice(0, -1)),
      lossFnInputs: { targetTokens: tokens.slice(1), weights: Array.from(weights).slice(1) },
    }),
  ];
  for (let step = 0; step < 30; step += 1) {
    void training.forwardBackward(data, 'cross_entropy');
    await training.optimStep({ learningRate: 0.05 });
  }
  return (await training.saveWeightsForSampler('taught')).path;
}

describe('startGateway', () => {
  it('serves the weights you just trained, by their path, over real sockets', async () => {
    await using server = await startServer();
    await using service = new ServiceClient({ baseUrl: server.url, apiKey: server.apiKey });
    const path = await train(service, 'Hi', 'Hello there');
    await using gateway = await startGateway({ models: serviceModels(service) });
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
    const ask = { messages: [{ role: 'user' as const, content: 'Hi' }], max_tokens: 20, temperature: 0 };
    const { choices } = await openai.chat.completions.create({ ...ask, model: path });
    expect(choices[0]?.message.content?.trim()).toBe('Hello there');
    let streamed = '';
    for await (const chunk of await openai.chat.completions.create({ ...ask, model: `tinkex/tiny;${path}`, stream: true })) {
      streamed += chunk.choices[0]?.delta.content ?? '';
    }
    expect(streamed).toBe(choices[0]?.message.content);
    expect((await openai.models.list()).data.map(({ id }) => id)).toContain('tinkex/tiny');
    await expect(openai.chat.completions.create({ ...ask, model: 'tinkex/none' })).rejects.toMatchObject({ status: 404 });

    const [adapter, base] = await Promise.all([
      service.createSamplingClient({ modelPath: path }),
      service.createSamplingClient({ baseModel: 'tinkex/tiny' }),
    ]);
    const tokenizer = toRendererTokenizer(await adapter.getTokenizer());
    const checked = { baseUrl: `${gateway.url}/v1`, apiKey: gateway.apiKey, adapter, base, tokenizer, prompts: ['User: Hi\n\nAssistant:'] };
    expect(await verifyServing({ ...checked, model: path })).toMatchObject({ verdict: 'adapter' });
    expect(await verifyServing({ ...checked, model: 'tinkex/tiny' })).toMatchObject({ verdict: 'base' });
  });

  it('answers only under its own name', async () => {
    await using gateway = await startGateway({ models: {} });
    const status = await new Promise((resolve, reject) => {
      request(`${gateway.url}/v1/models`, { headers: { host: 'evil.example', authorization: `Bearer ${gateway.apiKey}` } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });
});
