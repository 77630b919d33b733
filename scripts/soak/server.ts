import { defaultChaosKinds, startServer } from '../../packages/testkit/src/index.js';

const CHAOS_RATE = 0.02;
const RENEW_CHAOS_MS = 20_000;

/**
 * The server of the soak, for a process of its own, so that its memory does not mix with the client's. Prints what a client needs and ends the
 * process when its standard input ends: with 1 if a client broke a rule of the protocol.
 */
export async function serveSoak(): Promise<void> {
  const server = await startServer({ engine: 'canned', recorderLimit: 100, retentionMs: 20_000, executionMs: () => 5, longPollMs: 5_000 });
  let seed = 1;
  const renew = (): void =>
    void server.chaos({ seed: seed++, rate: CHAOS_RATE, kinds: [...defaultChaosKinds, 'drip', 'status-400-blank'], maxDelayMs: 10 });
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
