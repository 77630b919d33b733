import { type ChaosKind, DEFAULT_CHAOS_KINDS, type RouteName, startServer } from '../../packages/testkit/src/index.js';

const CHAOS_RATE = 0.02;
const RENEW_CHAOS_MS = 10_000;
const CALLS_WITH_ONE_RETRY_LAYER: ReadonlySet<RouteName> = new Set<RouteName>(['createSession', 'createModel', 'createSamplingSession']);

/**
 * The server of the soak, for a separate process, so that its memory does not mix with the client's. Prints what a client needs and ends the
 * process when its standard input ends: with 1 if a client broke a rule of the protocol. Killed and started again with the same folder and
 * port, it continues.
 */
export async function serveSoak(stateDir: string, port: number): Promise<void> {
  const server = await startServer({
    engine: 'canned',
    recorderLimit: 100,
    retentionMs: 20_000,
    executionMs: () => 5,
    longPollMs: 5_000,
    port,
    stateDir,
    durability: 'strict',
  });
  let seed = 1;
  const renew = (): void => {
    // A 429 holds all samplers back for a while. Most of the time they should be busy.
    const isCalm = seed % 4 !== 0;
    const usual = DEFAULT_CHAOS_KINDS.filter((kind) => !isCalm || kind !== 'status-429');
    const kinds = (route: RouteName): readonly ChaosKind[] =>
      CALLS_WITH_ONE_RETRY_LAYER.has(route) ? usual : [...usual, 'drip', 'status-400-blank'];
    server.chaos({ seed: seed++, rate: CHAOS_RATE, kinds, maxDelayMs: 10 });
  };
  renew();
  // Chaos remembers each operation it has decided about; a new one starts with an empty memory.
  const timer = setInterval(renew, RENEW_CHAOS_MS);
  console.log(JSON.stringify(server.clientOptions));
  process.stdin.resume().once('close', () => {
    clearInterval(timer);
    const { violations } = server;
    for (const { rule, detail } of violations.slice(0, 10)) console.error(`broken rule ${rule}: ${detail}`);
    server.close().then(
      () => process.exit(violations.length === 0 ? 0 : 1),
      () => process.exit(1),
    );
  });
}
