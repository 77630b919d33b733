import { type Datum, nextTokenDatum, TinkexError } from '@tinkex/types';
import { ServiceClient, type ServiceClientOptions } from '../../src/index.js';
import { HastyClock } from './hasty-clock.js';
import { HonestService } from './honest-service.js';
import { encodeMessage, type RawRequest, RawServer, type Wire } from './raw-server.js';

export const API_KEY = 'tml-hostile-suite-key-0123456789';

/** True under `npm run hostile`: every case instead of a sample. */
export const isFull = process.env['TINKEX_HOSTILE'] === 'full';

/** `TINKEX_HOSTILE_SEED=7` takes other samples and mutations; a failing test names its seed. */
export const SEED = Number(process.env['TINKEX_HOSTILE_SEED'] ?? 1);

/** The same numbers for the same seed and name (mulberry32). */
export function randomOf(name: string): () => number {
  let state = SEED | 0;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** All of them in the full run, otherwise `count`, chosen by the seed and in their order. */
export function sampleOf<T>(name: string, all: readonly T[], count: number): readonly T[] {
  if (isFull || all.length <= count) return all;
  const random = randomOf(name);
  const places = all.map((_, place) => ({ place, weight: random() }));
  const chosen = places.sort((a, b) => a.weight - b.weight).slice(0, count);
  return chosen.sort((a, b) => a.place - b.place).map(({ place }) => all[place] as T);
}

/** Takes a request over, or returns false: then the honest answer goes out. */
export type Attack = (request: RawRequest, wire: Wire, honest: () => Buffer) => unknown;

/** A client, and the server that attacks it. */
export interface Rig extends AsyncDisposable {
  readonly server: RawServer;
  readonly honest: HonestService;
  readonly clock: HastyClock;
  readonly service: ServiceClient;
}

/** @param attack - Sees every request first. */
export async function startRig(
  attack: Attack,
  options: Partial<ServiceClientOptions> = {},
  config: Readonly<Record<string, unknown>> = {},
): Promise<Rig> {
  const honest = new HonestService(config);
  const server = await RawServer.start((request, wire) => {
    const answer = (): Buffer => encodeMessage(honest.answer(request));
    if (attack(request, wire, answer) === false) void wire.write(answer());
  });
  const clock = new HastyClock(() => server.activity);
  const service = new ServiceClient({
    apiKey: API_KEY,
    baseUrl: server.url,
    clock,
    random: () => 0.4,
    heartbeatIntervalMs: 3_600_000,
    telemetry: false,
    ...options,
  });
  return {
    server,
    honest,
    clock,
    service,
    [Symbol.asyncDispose]: async () => {
      // Whatever the server does to the end of the session.
      await valueOrTinkexError(service.close());
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Whether a request is for the endpoint of this name. */
export function isTo({ path }: RawRequest, name: string): boolean {
  return path.split('?')[0] === `/api/v1/${name}`;
}

/** Datums whose first tokens are these. */
export function datums(...firstTokens: readonly number[]): Datum[] {
  return firstTokens.map((token) => nextTokenDatum([token, 2, 3]));
}

/** The error of work that has to fail; it is one of ours. */
export async function tinkexFailure(work: PromiseLike<unknown>): Promise<TinkexError> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) throw new Error(`This should have failed, and gave ${JSON.stringify(outcome.value)}.`);
  if (!TinkexError.isInstance(outcome.error)) throw new Error('This failed with a foreign error.', { cause: outcome.error });
  return outcome.error;
}

/** Either the value or one of our errors: nothing else may come out of a call. */
export async function valueOrTinkexError<T>(work: PromiseLike<T>): Promise<{ readonly value: T } | { readonly error: TinkexError }> {
  return work.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (!TinkexError.isInstance(error)) throw new Error(`A foreign error came out (seed ${SEED}).`, { cause: error });
      return { error };
    },
  );
}
