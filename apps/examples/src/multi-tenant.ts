/** Two services in one process: separate keys, sessions and rate limits; one's trouble never delays the other. */
import { rateLimiterFor } from '@tinkex/clients';
import { ModelInput, nextTokenDatum, RateLimitError } from '@tinkex/types';
import { runExample } from './shared/run-example.js';
import { openTarget, type Target } from './shared/target.js';
import { quoted } from './shared/terminal.js';

await runExample(
  {
    about: `Trains and samples on two services at once. The second one is embedded too, unless TINKEX_SECOND_BASE_URL or
TINKEX_SECOND_API_KEY is set (and maybe TINKEX_SECOND_BASE_MODEL); what is not set is then as for the first.`,
  },
  async ({ signal }) => {
    await using first = await openTarget({ signal });
    const { TINKEX_SECOND_BASE_URL: baseUrl, TINKEX_SECOND_API_KEY: apiKey, TINKEX_SECOND_BASE_MODEL: baseModel } = process.env;
    await using second = await openTarget({
      signal,
      named: { baseUrl, apiKey, baseModel },
      embedded: { apiKeys: ['tml-second-tenant'] }, // a server of its own, with a key of its own
    });
    console.log(`first:  ${first.description}\nsecond: ${second.description}\n`);

    const tenants: Tenant[] = [
      { name: 'first', target: first, text: 'One for the money. ' },
      { name: 'second', target: second, text: 'Two for the show! ' },
    ];
    const answers = await Promise.all(tenants.map((tenant) => trainAndSample(tenant, signal)));
    for (const [index, { name }] of tenants.entries()) console.log(`${name.padEnd(6)} learnt ${quoted(answers[index] ?? '')}`);

    if (second.server === undefined) return;
    // Now the second server refuses a call. Its limiter closes; the first tenant's does not even notice.
    second.server.on('asample').reply(429, { retryAfterMs: 60_000 }).once();
    const sampling = await second.service.createSamplingClient({ baseModel: second.baseModel, signal });
    const refusal = await sampling.sample({ prompt: [65], samplingParams: { maxTokens: 1 } }, { signal }).catch((error: unknown) => error);
    if (!RateLimitError.isInstance(refusal)) throw new Error('The second server was scripted to refuse this call.');
    console.log(`\nsecond was refused (${refusal.code}), for ${(refusal.retryAfterMs ?? 0) / 1000} s`);
    const secondLimiter = rateLimiterFor(second.server.url, second.server.apiKey);
    console.log(`second is held back: ${secondLimiter.inspect().isBlocked}`);
    const fromFirst = await first.service.createSamplingClient({ baseModel: first.baseModel, retry: true, signal });
    await fromFirst.sample({ prompt: ModelInput.fromInts([65, 66]), samplingParams: { maxTokens: 4, seed: 1 } }, { signal });
    console.log('first answered at once: tenants share nothing');
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
  await Promise.all(steps); // thirty calls, none awaited before the next: the order is that of the calls
  const sampling = await training.saveWeightsAndGetSamplingClient({ retry: true, signal });
  const prompt = ModelInput.fromText(text.slice(0, 4), tokenizer);
  const { sequences } = await sampling.sample({ prompt, samplingParams: { maxTokens: text.length - 4, temperature: 0 } }, { signal });
  console.log(`${name.padEnd(6)} did ${steps.length} operations in session ${await service.sessionId()}`);
  return text.slice(0, 4) + tokenizer.decode(Array.from(sequences[0]?.tokens ?? []));
}
