/**
 * A chat completion through a gateway against the bare sampler under it, in one process and in short turns: what the gateway adds is smaller than the difference between
 * two processes. The client of the gateway and the Tinker server are separate processes. The server samples with the embedded engine, one token after the other.
 */
import { ServiceClient } from '@tinkex/clients';
import { serviceModels, startGateway } from '@tinkex/gateway';
import { getRenderer, type Message, toRendererTokenizer } from '@tinkex/renderers';
import { program } from '../measure/program.js';
import { keepInFlight } from '../measure/repeat.js';
import { median } from '../measure/statistics.js';
import { stopwatch } from '../measure/stopwatch.js';
import type { ClientResult } from './gateway-client.js';
import { HelperProcess } from './helper-process.js';

interface Task {
  /** Of each answer. */
  readonly tokens: number;
  /** Undefined: the answer is not streamed. */
  readonly pieceTokens?: number | undefined;
  readonly calls: number;
  readonly inFlight: number;
  readonly turns: number;
}

const MODEL = 'tinkex/tiny';
const MESSAGES: readonly Message[] = [
  { role: 'system', content: 'You answer in one sentence.' },
  { role: 'user', content: 'What is the quickest way to get from here to the other side of the river?' },
];

/** What a turn cost: microseconds of CPU per call here and in the server, and the time of the turn. */
interface Cost {
  readonly own: number;
  readonly server: number;
  readonly wallMs: number;
}

await program(async ({ tokens, pieceTokens, calls, inFlight, turns }: Task) => {
  const server = new HelperProcess('gateway-server', {});
  const { url: baseUrl } = await server.ask<{ url: string }>({});
  const serverCpuMs = async (): Promise<number> => (await server.ask<{ cpuMs: number }>({})).cpuMs;
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false });
  const gateway = await startGateway({ models: serviceModels(service), pieceTokens });
  const sampler = await service.createSamplingClient({ baseModel: MODEL });
  const renderer = getRenderer('role_colon', toRendererTokenizer(await sampler.getTokenizer()));
  const prompt = renderer.buildGenerationPrompt(MESSAGES);
  const paramsOf = (seed: number) => ({ maxTokens: tokens, stop: renderer.getStopSequences(), seed });
  const sampled = async (seed: number): Promise<number> => {
    const { sequences } = await sampler.sample({ prompt, numSamples: 1, samplingParams: paramsOf(seed) });
    return sequences[0]?.tokens.length ?? 0;
  };
  // Most seeds end the answer early.
  let seed = 1;
  while ((await sampled(seed)) < tokens) seed += 1;
  const stream = pieceTokens === undefined ? {} : { stream: true, stream_options: { include_usage: true } };
  const body = JSON.stringify({ model: MODEL, max_tokens: tokens, seed, messages: MESSAGES, ...stream });
  const client = new HelperProcess('gateway-client', { url: gateway.url, apiKey: gateway.apiKey, body });
  const firstDeltas: number[] = [];
  const works = {
    sampler: async () => {
      let sum = 0;
      const call = async (): Promise<void> => {
        const count = await sampled(seed);
        sum += count;
      };
      await keepInFlight(call, calls, inFlight);
      return sum;
    },
    gateway: async () => {
      const { tokens: sum, firstDeltaMs } = await client.ask<ClientResult>({ calls, inFlight });
      firstDeltas.push(firstDeltaMs);
      return sum;
    },
  };
  async function costOf(work: () => Promise<number>): Promise<Cost> {
    const before = await serverCpuMs();
    const stop = stopwatch();
    const sum = await work();
    const { cpuMs, wallMs } = stop();
    if (sum !== tokens * calls) throw new Error(`${sum} tokens were sampled instead of ${tokens * calls}.`);
    return { own: (cpuMs * 1_000) / calls, server: (((await serverCpuMs()) - before) * 1_000) / calls, wallMs };
  }
  const costs: { readonly sampler: Cost; readonly gateway: Cost }[] = [];
  // The first turns warm up.
  for (let turn = -turns; turn < turns; turn += 1) {
    const isFirst = turn % 2 === 0;
    const one = await costOf(isFirst ? works.sampler : works.gateway);
    const other = await costOf(isFirst ? works.gateway : works.sampler);
    if (turn >= 0) costs.push(isFirst ? { sampler: one, gateway: other } : { sampler: other, gateway: one });
  }
  await client.end();
  await gateway.close();
  await service.close();
  await server.end();
  const of = (value: (cost: (typeof costs)[number]) => number): number => median(costs.map(value));
  return {
    samplerMicros: of((cost) => cost.sampler.own),
    gatewayMicros: of((cost) => cost.gateway.own),
    /** What the gateway adds in this process, as a share of what the bare call takes here and in the server. */
    addedShare: of(({ sampler: bare, gateway: whole }) => (whole.own - bare.own) / (bare.own + bare.server)),
    /** Everything that a call takes, here and in the server. A stream makes several requests of it. */
    callRatio: of(({ sampler: bare, gateway: whole }) => (whole.own + whole.server) / (bare.own + bare.server)),
    rateRatio: of(({ sampler: bare, gateway: whole }) => bare.wallMs / whole.wallMs),
    /** Until the client has the first text, as a share of the time until the bare sampler has given the whole answer. */
    firstDeltaShare: median(firstDeltas.slice(-turns)) / (of(({ sampler: bare }) => bare.wallMs) / Math.ceil(calls / inFlight)),
  };
});
