/** Two services in one process: separate keys, sessions and rate limits. Trouble with one never delays the other. */
import { rateLimiterFor } from '@tinkex/clients';
import { ModelInput, nextTokenDatum, RateLimitError } from '@tinkex/types';
import { runExample } from './shared/run-example.js';
import { openTarget, type Target } from './shared/target.js';
import { quoted } from './shared/terminal.js';

await runExample(
  {
    about: `Trains and samples on two services at the same time. The second service is embedded too, unless you set
TINKEX_SECOND_BASE_URL or TINKEX_SECOND_API_KEY (and TINKEX_SECOND_BASE_MODEL if you like).`,
  },
  async ({ signal }) => {
    await using first = await openTarget({ signal });
    const { TINKEX_SECOND_BASE_URL: baseUrl, TINKEX_SECOND_API_KEY: apiKey, TINKEX_SECOND_BASE_MODEL: baseModel } = process.env;
    await using second = await openTarget({
      signal,
      named: { baseUrl, apiKey, baseModel },
      embedded: { apiKeys: ['tml-second-tenant'] }, // a second server with a different key
    });
    console.log(`first:  ${first.description}\nsecond: ${second.description}\n`);

    const tenants: Tenant[] = [
      { name: 'first', target: first, text: 'One for the money. ' },
      { name: 'second', target: second, text: 'Two for the show! ' },
    ];
    const answers = await Promise.all(tenants.map((tenant) => trainAndSample(tenant, signal)));
    for (const [index, { name }] of tenants.entries()) console.log(`${name.padEnd(6)} learned ${quoted(answers[index] ?? '')}`);

    if (second.server === undefined) return;
    // Now the second server rejects a call. This blocks its rate limiter and leaves the one of the first tenant alone.
    second.server.on('asample').reply(429, { retryAfterMs: 60_000 }).once();
    const sampling = await second.service.createSamplingClient({ baseModel: second.baseModel, signal });
    const refusal = await sampling.sample({ prompt: [65], samplingParams: { maxTokens: 1 } }, { signal }).catch((error: unknown) => error);
    if (!RateLimitError.isInstance(refusal)) throw new Error('The second server should have rejected this call.');
    console.log(`\nsecond was rejected (${refusal.code}) for ${(refusal.retryAfterMs ?? 0) / 1000} s`);
    const secondLimiter = rateLimiterFor(second.server.url, second.server.apiKey);
    console.log(`second is held back: ${secondLimiter.inspect().isBlocked}`);
    const fromFirst = await first.service.createSamplingClient({ baseModel: first.baseModel, retry: true, signal });
    await fromFirst.sample({ prompt: ModelInput.fromInts([65, 66]), samplingParams: { maxTokens: 4, seed: 1 } }, { signal });
    console.log('first answered immediately: the tenants share nothing');
  },
);

interface Tenant {
  readonly name: string;
  readonly target: Target;
  readonly text: string;
}

async function trainAndSample({ name, target, text }: Tenant, signal: AbortSignal): Promise<string> {
  const { service, baseModel, learningRate } = target;
  const training = await service.createLoraTrainingClient({ baseModel, rank: 8, signal });
  const tokenizer = await training.getTokenizer({ signal });
  const data = [nextTokenDatum(ModelInput.fromText(text, tokenizer).toInts())];
  const steps = Array.from({ length: 15 }, () => {
    const forward = training.forwardBackward(data, 'cross_entropy', { signal });
    const update = training.optimStep({ learningRate }, { signal });
    return [forward, update];
  }).flat();
  await Promise.all(steps); // thirty calls, none awaited before the next: the server executes them in call order
  const sampling = await training.saveWeightsAndGetSamplingClient({ retry: true, signal });
  const prompt = ModelInput.fromText(text.slice(0, 4), tokenizer);
  const { sequences } = await sampling.sample({ prompt, samplingParams: { maxTokens: text.length - 4, temperature: 0 } }, { signal });
  console.log(`${name.padEnd(6)} completed ${steps.length} operations in session ${await service.sessionId()}`);
  return text.slice(0, 4) + tokenizer.decode(sequences[0]?.tokens ?? []);
}
