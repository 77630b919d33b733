import type { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { createGateway, type PromptScorer, verifyServing } from '../src/index.js';
import { scriptedModel, TOKENIZER } from './harness/scripted-model.js';

/** A gateway over a model whose tokens all have a logprob between -7/8 and -1/8, as the script's sampler gives them. */
const gateway = createGateway({ models: { m: scriptedModel(() => ' one two three') } });
const served = {
  baseUrl: 'http://localhost/v1',
  apiKey: 'none',
  model: 'm',
  tokenizer: TOKENIZER,
  prompts: ['Count:'],
  fetch: (input: string | URL | Request, init?: RequestInit) => gateway(new Request(input, init)),
};

/** Weights that find every token as likely as the served ones do, or by so much less. */
const scorer = (less: number): PromptScorer => ({
  computeLogprobs: async (prompt: ModelInput) => Float32Array.from(prompt.toInts(), (token) => -((token % 7) + 1) / 8 - less),
});

describe('verifyServing', () => {
  it.each([
    ['adapter', 0, 1],
    ['base', 1, 0],
    ['neither', 1, 2],
    ['indistinguishable', 0.01, 0.02],
  ])('says %s', async (verdict, adapter, base) => {
    const report = await verifyServing({ ...served, adapter: scorer(adapter), base: scorer(base) });
    expect(report).toMatchObject({ verdict });
    expect(report.differenceFromAdapter).toBeCloseTo(adapter, 5);
    expect(report.differenceFromBase).toBeCloseTo(base, 5);
    expect(report.tokens).toBeGreaterThan(1);
  });

  it('takes weights for the same that lie within the tolerance', async () => {
    const options = { ...served, adapter: scorer(0.2), base: scorer(3) };
    expect(await verifyServing(options)).toMatchObject({ verdict: 'neither' });
    expect(await verifyServing({ ...options, tolerance: 0.3 })).toMatchObject({ verdict: 'adapter' });
  });

  it('refuses an endpoint that cannot be checked', async () => {
    const options = { ...served, adapter: scorer(0), base: scorer(1) };
    await expect(verifyServing({ ...options, model: 'x' })).rejects.toThrow('status 404');
    await expect(verifyServing({ ...options, prompts: [] })).rejects.toThrow('longer prompts');
    const silent = async () => Response.json({ choices: [{ text: ' one', logprobs: null }] });
    await expect(verifyServing({ ...options, fetch: silent })).rejects.toThrow('no log-probabilities');
  });
});
