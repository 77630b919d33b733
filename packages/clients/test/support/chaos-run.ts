import { getEventListeners } from 'node:events';
import {
  CHAOS_KINDS,
  type ChaosKind,
  DIALECTS,
  type Dialect,
  type RouteName,
  startServer,
  type TestServer,
  VirtualClock,
} from '@tinkex/testkit';
import { AbortedError, type Datum, datum, ModelInput, type SampleResponse } from '@tinkex/types';
import { type SamplingClient, ServiceClient } from '../../src/index.js';
import { closeAfter, driveThroughDeadlines } from './chaos-drive.js';
import { countingEngine, type EngineLog } from './counting-engine.js';

/** How a run is troubled. */
export interface ChaosRunOptions {
  /** Undefined: nothing goes wrong. */
  readonly seed?: number;
  /** Default 20. */
  readonly steps?: number;
}

/** All that a run produced, ready to be compared. */
export interface ChaosOutcome {
  readonly losses: readonly number[];
  readonly stepMetrics: readonly Record<string, number>[];
  readonly samples: readonly string[];
  /** Digests of the weights, of every save. */
  readonly checkpoints: readonly string[];
  /** The reasons that the server was given for the end of the session. */
  readonly finishes: readonly string[];
  /** What the engine did, sorted: the order of samples beside training is not promised. */
  readonly executed: readonly string[];
}

/** A run, what troubled it and what it left behind. */
export interface ChaosRun {
  readonly outcome: ChaosOutcome;
  /** How many faults of each kind struck. */
  readonly faults: Readonly<Record<string, number>>;
  /** Which endpoints they struck. */
  readonly struckRoutes: readonly (RouteName | undefined)[];
  readonly leftBehind: readonly string[];
}

/**
 * Every fault that the protocol requires a client to survive. Not here: `corrupt`, because a complete answer that is not valid is an error by design,
 * and `status-410`, which only a sampling call survives and which {@link runUnderChaos} adds for those.
 */
export const survivableKinds: readonly ChaosKind[] = CHAOS_KINDS.filter((kind) => kind !== 'corrupt' && kind !== 'status-410');

/** Calls that the protocol repeats only in the HTTP layer, which does not know unpaid accounts. */
const FRAGILE: ReadonlySet<RouteName> = new Set<RouteName>(['createSession', 'createModel', 'createSamplingSession']);
const withoutOuterRetry = survivableKinds.filter((kind) => kind !== 'status-402');

/** A conflict answers a poll for good: its loop takes only what can pass. */
const forPolls = survivableKinds.filter((kind) => kind !== 'status-409');

const RATE = 0.12;
/** One seed in this many has one poll per sampling session, and samples that are abandoned and canceled. */
const SESSION_POLL_EVERY = 3;
const SESSION_POLL_FLAGS = { sample_use_retrieve_futures: true, sample_cancel_enabled: true, sample_cancel_max_batch_size: 2 };
/** One seed in this many has a server that fails on protobuf, like a passing fault: the client has to find out in the middle of others. */
const JSON_SERVER_EVERY = 4;
const JSON_SERVER: Dialect = { ...DIALECTS.json, refusedFormatStatus: 500 };
/** The seeds of abandoned samples: the server may have executed them or not. */
const ABANDONED = 9_000;
/** One sample in this many is answered once with 410: its future has expired. */
const LOST_PROMISE_EVERY = 12;

/** Trains for some steps and samples beside it, with retries on, while the server misbehaves as the seed says. */
export async function runUnderChaos({ seed, steps = 20 }: ChaosRunOptions): Promise<ChaosRun> {
  const log: EngineLog = { executed: [], checkpoints: [] };
  const clock = new VirtualClock();
  const hasSessionPoll = seed !== undefined && seed % SESSION_POLL_EVERY === 0;
  const server = await startServer({
    engine: countingEngine(log),
    dialect: seed !== undefined && seed % JSON_SERVER_EVERY === 0 ? JSON_SERVER : DIALECTS.hosted,
    flags: hasSessionPoll ? SESSION_POLL_FLAGS : {},
    config: { fwdbwdMaxChunkLen: 2, billingExceptionMaxPauseDurationSec: 3_600 },
  });
  if (seed !== undefined) trouble(server, seed);
  const user = new AbortController();
  const service = new ServiceClient({
    ...server.clientOptions,
    clock,
    random: seededRandom(seed ?? 0),
    heartbeatIntervalMs: 45_000,
    telemetry: false,
  });
  return closeAfter({ clock, server, service }, async () => {
    const abandoned = hasSessionPoll ? abandonSamples(service) : undefined;
    const results = await driveThroughDeadlines(clock, server, trainAndSample(service, steps, user.signal));
    await driveThroughDeadlines(clock, server, Promise.resolve(abandoned));
    await driveThroughDeadlines(clock, server, service.close('success', { timeoutMs: 600_000 }));
    server.verify();
    const executed = log.executed.filter((entry) => !/^sample .* seed 9\d{3}$/.test(entry)).sort();
    const finishes = [...new Set(server.callsTo('finishSession').map(({ request }) => request.reason))];
    const outcome = { ...results, checkpoints: log.checkpoints, finishes, executed };
    const struckRoutes = server.calls.flatMap(({ fault, route }) => (fault === undefined ? [] : [route]));
    return { outcome, faults: faultsOf(server), struckRoutes, leftBehind: await leftBehind(server, clock, user.signal) };
  });
}

function trouble(server: TestServer, seed: number): void {
  server.chaos({
    seed,
    rate: RATE,
    kinds: (route) => (route === 'retrieveFuture' ? forPolls : FRAGILE.has(route) ? withoutOuterRetry : survivableKinds),
    maxFaultsPerOperation: 2,
  });
  const lost = new Set<string>();
  server
    .on('retrieveFuture')
    .when(({ headers, requestId = '' }) => {
      const number = Number(requestId.split(':').at(-1));
      if (headers['x-tinker-request-type'] !== 'Sample' || number % LOST_PROMISE_EVERY !== seed % LOST_PROMISE_EVERY || lost.has(requestId))
        return false;
      lost.add(requestId);
      return true;
    })
    .reply(410, { detail: 'the promise is gone, or so it says' });
}

/** Starts samples and gives each up as soon as the server has accepted it. */
async function abandonSamples(service: ServiceClient): Promise<void> {
  const client = await service.createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
  const samples = Array.from({ length: 6 }, async (_, index) => {
    const user = new AbortController();
    const prompt = ModelInput.fromInts([30 + index]);
    const future = client.sample({ prompt, samplingParams: { maxTokens: 2, seed: ABANDONED + index } }, { signal: user.signal });
    await future.submitted();
    user.abort();
    await future.then(
      () => undefined,
      (error: unknown) => {
        if (!AbortedError.isInstance(error)) throw error;
      },
    );
  });
  await Promise.all(samples);
}

async function trainAndSample(
  service: ServiceClient,
  steps: number,
  signal: AbortSignal,
): Promise<Pick<ChaosOutcome, 'losses' | 'stepMetrics' | 'samples'>> {
  const [training, base] = await Promise.all([
    service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2, seed: 11, signal }),
    service.createSamplingClient({ baseModel: 'tinkex/tiny', retry: true, signal }),
  ]);
  const passes: Promise<number>[] = [];
  const updates: Promise<Record<string, number>>[] = [];
  const samples: Promise<string>[] = [];
  for (let step = 0; step < steps; step += 1) {
    const pass = training.forwardBackward(batch(step), 'cross_entropy', { signal });
    const update = training.optimStep({ learningRate: 0.02 }, { signal });
    passes.push(pass.then(({ metrics }) => metrics['loss:sum'] ?? Number.NaN));
    updates.push(update.then(({ metrics = {} }) => metrics));
    samples.push(sample(base, step, signal), sample(base, 1_000 + step, signal));
    // Some steps are awaited and some are not: both are how people write loops.
    if (step % 4 === 3) await Promise.all([...passes, ...updates]);
  }
  const saved = training.saveWeightsForSampler('half-way', { signal });
  const state = training.saveState('end', { signal });
  const tuned = await service.createSamplingClient({ modelPath: (await saved).path, retry: true, signal });
  for (let index = 0; index < 4; index += 1) samples.push(sample(tuned, 2_000 + index, signal));
  await state;
  return { losses: await Promise.all(passes), stepMetrics: await Promise.all(updates), samples: await Promise.all(samples) };
}

async function sample(client: SamplingClient, number: number, signal: AbortSignal): Promise<string> {
  const prompt = ModelInput.fromInts([10 + (number % 50), 20 + (number >> 5)]);
  const response = await client.sample(
    { prompt, numSamples: 2, samplingParams: { maxTokens: 6, seed: number, temperature: 1 } },
    { signal },
  );
  return textOf(response);
}

/** Three datums: two chunks. */
function batch(step: number): Datum[] {
  return [0, 1, 2].map((index) => {
    const tokens = Array.from({ length: 6 }, (_, place) => (step * 7 + index * 13 + place * 3) % 200);
    return datum({
      modelInput: ModelInput.fromInts(tokens),
      lossFnInputs: { targetTokens: tokens.map((token) => (token + 3) % 200), weights: tokens.map(() => 1) },
    });
  });
}

function textOf({ sequences }: SampleResponse): string {
  return sequences
    .map(({ tokens, logprobs = [], stopReason }) => `${[...tokens].join(' ')} / ${[...logprobs].join(' ')} / ${stopReason}`)
    .join('; ');
}

function faultsOf(server: TestServer): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { fault, route, status } of server.calls) {
    const kind = fault ?? (route === 'retrieveFuture' && status === 410 ? 'status-410' : undefined);
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Closed sockets take a few turns of the event loop to be seen as closed by the other end, and on a busy machine some time. */
async function leftBehind(server: TestServer, clock: VirtualClock, signal: AbortSignal): Promise<string[]> {
  const counts = (): [number, string][] => [
    [server.openSockets, 'sockets'],
    [server.inFlight(), 'calls in flight'],
    [clock.pending, 'timers'],
    [getEventListeners(signal, 'abort').length, 'abort listeners'],
    [server.pendingFutures, 'promises never finished'],
  ];
  for (let turn = 0; turn < 2_500 && counts().some(([count]) => count > 0); turn += 1)
    await new Promise((resolve) => (turn < 2_000 ? setImmediate(resolve) : setTimeout(resolve, 10)));
  return counts().flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
}

/** The same numbers for the same seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
