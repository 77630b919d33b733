import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../src/index.js';
import { moment } from './harness/moment.js';
import { scriptedModel } from './harness/scripted-model.js';

const REQUEST = { model: 'm', max_tokens: 400, messages: [{ role: 'user' as const, content: 'Count.' }] };

/** A gateway on a port whose model speaks until its `heldAt`th sample, which waits for the caller to leave. */
async function talkative(heldAt: number) {
  const model = scriptedModel(() => `${'word '.repeat(200)}<|im_end|>`);
  const held = moment();
  const left = moment();
  model.sampler.onSample = (_, signal) => {
    if (model.sampler.inputs.length < heldAt) return;
    held.reach();
    return new Promise<void>((resolve) => {
      signal?.addEventListener('abort', () => {
        left.reach();
        resolve();
      });
    });
  };
  const gateway = await startGateway({ models: { m: model }, pieceTokens: 2 });
  const { url, apiKey } = gateway;
  return {
    model,
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey, authToken: null, maxRetries: 0 }),
    /** Until the sample waits. */
    isHeld: held.reached,
    /** Until the sampler has learned that the caller left. */
    hasLeft: left.reached,
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}

describe('F.2 a client that hangs up', () => {
  it('in the middle of a stream of the openai package cancels the sample', async () => {
    await using rig = await talkative(3);
    const stream = await rig.openai.chat.completions.create({ ...REQUEST, stream: true });
    let text = '';
    const read = (async () => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    })();
    await rig.isHeld;
    stream.controller.abort();
    await Promise.all([read, rig.hasLeft]);
    expect('word '.repeat(200)).toContain(text);
    expect(rig.model.sampler.inputs).toHaveLength(3);
  });

  it('in the middle of a stream of the @anthropic-ai/sdk package cancels the sample', async () => {
    await using rig = await talkative(3);
    const stream = rig.anthropic.messages.stream(REQUEST);
    const ended = expect(stream.done()).rejects.toThrow(Anthropic.APIUserAbortError);
    await rig.isHeld;
    stream.abort();
    await Promise.all([ended, rig.hasLeft]);
    expect(rig.model.sampler.inputs).toHaveLength(3);
  });

  it.each(['openai', 'anthropic'] as const)('before an answer that is not streamed cancels the sample: %s', async (api) => {
    await using rig = await talkative(1);
    const hangUp = new AbortController();
    const { signal } = hangUp;
    const asked =
      api === 'openai' ? rig.openai.chat.completions.create(REQUEST, { signal }) : rig.anthropic.messages.create(REQUEST, { signal });
    const ended = expect(asked).rejects.toThrow(/abort/i);
    await rig.isHeld;
    hangUp.abort();
    await Promise.all([ended, rig.hasLeft]);
    expect(rig.model.sampler.inputs).toHaveLength(1);
  });
});
