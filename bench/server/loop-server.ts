/**
 * A test server for whole training loops, in a separate process: it accepts everything a loop sends and gives fixed answers, each after the time that its
 * operation takes. Prints its port, and exits when its standard input ends. The only argument is JSON: milliseconds by route.
 */
import { startServer } from '@tinkex/testkit';

const executionMs = JSON.parse(process.argv[2] ?? '{}') as Readonly<Record<string, number>>;
const server = await startServer({
  engine: 'canned',
  executionMs: (route) => executionMs[route] ?? 0,
  // As the hosted service does: one poll for all samples of a session.
  flags: { sample_use_retrieve_futures: true },
  recorderLimit: 100,
});
process.stdout.write(`${new URL(server.url).port}\n`);
process.stdin.resume().once('close', () => process.exit(0));
