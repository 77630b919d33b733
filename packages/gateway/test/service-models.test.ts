import { getRenderer, toRendererTokenizer } from '@tinkex/renderers';
import { NotFoundError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { type SamplingService, type ServiceModelsOptions, serviceModels } from '../src/index.js';
import { officialClients } from './harness/clients.js';
import { ScriptedSampler, TOKENIZER } from './harness/scripted-model.js';

const OWN_MODEL = 'acme/own-model';
const REQUEST = { max_tokens: 20, messages: [{ role: 'user' as const, content: 'Hello' }] };

/** A service with a model that is not in the table, and which models were opened. */
function ownService() {
  const opened: string[] = [];
  const service: SamplingService = {
    async createSamplingClient({ baseModel, modelPath }) {
      opened.push(modelPath ?? baseModel ?? '');
      if (modelPath?.endsWith('/gone')) throw new NotFoundError({ message: 'There are no such weights.', status: 404 });
      const sampler = new ScriptedSampler(() => 'Hello.<|im_end|>');
      return Object.assign(sampler, { getBaseModel: async () => OWN_MODEL, getTokenizer: async () => TOKENIZER });
    },
    getServerCapabilities: async () => ({ supportedModels: [{ modelName: OWN_MODEL, maxContextLength: 64 }] }),
  };
  return { service, opened };
}

const clientsOf = (service: SamplingService, options?: ServiceModelsOptions) =>
  officialClients({ models: serviceModels(service, options) });
const renderer: ServiceModelsOptions['renderer'] = (_, tokenizer) => getRenderer('qwen3', toRendererTokenizer(tokenizer));

describe('serviceModels', () => {
  it('serves a model that is not in the model table with the renderer you pass', async () => {
    const { openai, anthropic } = clientsOf(ownService().service, { renderer });
    for (const model of [OWN_MODEL, 'tinker://run/sampler_weights/final', `${OWN_MODEL};tinker://run/sampler_weights/final`]) {
      expect((await openai.chat.completions.create({ ...REQUEST, model })).choices[0]?.message.content).toBe('Hello.');
      expect((await anthropic.messages.create({ ...REQUEST, model })).content).toEqual([{ type: 'text', text: 'Hello.' }]);
    }
    const tooLong = { ...REQUEST, model: OWN_MODEL, max_tokens: 64 };
    await expect(openai.chat.completions.create(tooLong)).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });

  it('says what to do about one without', async () => {
    const { openai } = clientsOf(ownService().service);
    const refusal = openai.chat.completions.create({ ...REQUEST, model: OWN_MODEL });
    await expect(refusal).rejects.toMatchObject({ status: 400, param: 'model' });
    await expect(refusal).rejects.toThrow(/does not know .*acme.*Pass serviceModels its chat format: { renderer/);
  });

  it('opens a model once, forgets the one used longest ago, and finds no weights that are gone', async () => {
    const { service, opened } = ownService();
    const { openai } = clientsOf(service, { renderer, maxModels: 2 });
    const path = (name: string) => `tinker://run/sampler_weights/${name}`;
    const ask = (name: string) => openai.chat.completions.create({ ...REQUEST, model: path(name) });
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(name);
    expect(opened).toEqual(['a', 'b', 'c', 'b'].map(path));
    await expect(ask('gone')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual([OWN_MODEL, path('a'), path('b')]);
  });
});
