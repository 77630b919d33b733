import Anthropic from '@anthropic-ai/sdk';
import { ConnectionError, RateLimitError, ServerError, TimeoutError } from '@tinkex/types';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { officialClients } from './harness/clients.js';
import { scriptedModel } from './harness/scripted-model.js';

const REQUEST = { model: 'm', max_tokens: 20, messages: [{ role: 'user' as const, content: 'Hello' }] };

/** What both clients reject with when the sampler fails. */
async function rejections(error: Error) {
  const model = scriptedModel(() => '');
  model.sampler.onSample = () => Promise.reject(error);
  const { openai, anthropic } = officialClients({ models: { m: model } });
  const [one, other] = await Promise.allSettled([openai.chat.completions.create(REQUEST), anthropic.messages.create(REQUEST)]);
  return [(one as PromiseRejectedResult).reason, (other as PromiseRejectedResult).reason] as [
    InstanceType<typeof OpenAI.APIError>,
    InstanceType<typeof Anthropic.APIError>,
  ];
}

const limited = new RateLimitError({ message: 'Too many requests.', status: 429, retryAfterMs: 1500 });

describe('a failure of the sampler', () => {
  it('that is a rate limit says when to try again, in the shape of each API', async () => {
    const [one, other] = await rejections(limited);
    expect(one).toBeInstanceOf(OpenAI.RateLimitError);
    expect(one).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' });
    expect(other).toBeInstanceOf(Anthropic.RateLimitError);
    expect(other).toMatchObject({ error: { type: 'error', error: { type: 'rate_limit_error', message: 'Too many requests.' } } });
    for (const { headers } of [one, other]) expect([headers?.get('retry-after'), headers?.get('retry-after-ms')]).toEqual(['2', '1500']);
  });

  it.each([
    ['a server that is not there', new ConnectionError({ message: 'No connection.' }), [503, 529], 'overloaded_error'],
    ['a server that is busy', new ServerError({ message: 'Busy.', status: 503 }), [503, 529], 'overloaded_error'],
    ['a server that fails', new ServerError({ message: 'It broke.', status: 500 }), [500, 500], 'api_error'],
    ['a server that is slow', new TimeoutError({ message: 'Slow.', phase: 'total' }), [504, 504], 'timeout_error'],
    ['a defect', new Error('/home/me/secret'), [500, 500], 'api_error'],
  ])('that is %s has the status of each API', async (_, error, statuses, type) => {
    const [one, other] = await rejections(error);
    expect([one.status, other.status]).toEqual(statuses);
    expect(one).toMatchObject({ type: 'server_error' });
    expect(other).toMatchObject({ error: { type: 'error', error: { type } } });
    expect(one.message + other.message).not.toContain('/home/me');
  });

  it('is retried by the official clients where the real services would be', async () => {
    const model = scriptedModel(() => 'Hello.<|im_end|>');
    const soon = new RateLimitError({ message: 'Too many requests.', status: 429, retryAfterMs: 1 });
    model.sampler.onSample = () => (model.sampler.inputs.length % 2 === 1 ? Promise.reject(soon) : undefined);
    const { openai, anthropic } = officialClients({ models: { m: model } });
    const patient = { maxRetries: 1 };
    expect((await openai.chat.completions.create(REQUEST, patient)).choices[0]?.message.content).toBe('Hello.');
    expect((await anthropic.messages.create(REQUEST, patient)).content).toEqual([{ type: 'text', text: 'Hello.' }]);
    expect(model.sampler.inputs).toHaveLength(4);
  });
});

describe('a request that is too large', () => {
  it('is refused in the shape of each API', async () => {
    const { openai, anthropic } = officialClients({ models: { m: scriptedModel(() => '') }, maxBodyBytes: 1_000 });
    const messages = [{ role: 'user' as const, content: 'x'.repeat(1_000) }];
    await expect(openai.chat.completions.create({ ...REQUEST, messages })).rejects.toMatchObject({ status: 413 });
    const type = 'request_too_large';
    await expect(anthropic.messages.create({ ...REQUEST, messages })).rejects.toMatchObject({ status: 413, error: { error: { type } } });
  });
});
