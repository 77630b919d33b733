import { ConfigurationError } from '@tinkex/types';
import { afterEach, expect, it, vi } from 'vitest';
import { ServiceClient } from './service-client.js';

afterEach(() => vi.unstubAllEnvs());

it('gives the official clients their base URL and key', async () => {
  await using service = new ServiceClient({ baseUrl: 'https://tinker.example/services/prod/', apiKey: 'tml-key' });
  expect(await service.openAiOptions()).toEqual({ baseURL: 'https://tinker.example/services/prod/oai/api/v1', apiKey: 'tml-key' });
  expect(await service.anthropicOptions()).toEqual({ baseURL: 'https://tinker.example/services/prod/anthropic/api', apiKey: 'tml-key' });
});

it('names the model as each endpoint wants it', async () => {
  await using service = new ServiceClient({ baseUrl: 'http://localhost:1', apiKey: 'tml-key' });
  const weights = { baseModel: 'Qwen/Qwen3-8B', modelPath: 'tinker://run/sampler_weights/final' };
  expect((await service.openAiOptions(weights)).model).toBe('Qwen/Qwen3-8B;tinker://run/sampler_weights/final');
  expect((await service.anthropicOptions(weights)).model).toBe('tinker://run/sampler_weights/final');
  expect((await service.anthropicOptions({ baseModel: 'Qwen/Qwen3-8B' })).model).toBe('Qwen/Qwen3-8B');
  await expect(service.openAiOptions({})).rejects.toThrow(/pass modelPath, baseModel, or both/);
});

it('takes the key from the credential command', async () => {
  vi.stubEnv('TINKER_API_KEY', '');
  await using service = new ServiceClient({ baseUrl: 'http://localhost:1', credentialCommand: 'echo tml-printed' });
  expect((await service.openAiOptions()).apiKey).toBe('tml-printed');
});

it('refuses what the endpoints do not take', async () => {
  vi.stubEnv('TINKER_API_KEY', '');
  await using keyless = new ServiceClient({ baseUrl: 'http://localhost:1' });
  await expect(keyless.openAiOptions()).rejects.toThrow(ConfigurationError);
  await using token = new ServiceClient({ baseUrl: 'http://localhost:1', apiKey: 'eyJhbGciOiJub25lIn0.e30.' });
  await expect(token.anthropicOptions()).rejects.toThrow(/token, which expires/);
});
