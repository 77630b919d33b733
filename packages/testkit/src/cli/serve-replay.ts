import { type ReplayOptions, startReplay } from '../replay/open-replay.js';
import type { ReplayServer } from '../replay/replay-server.js';
import { type Output, untilStopped } from './serve.js';
import type { ServeOptions } from './serve-options.js';

/** What the command line asks to record or to replay; undefined when it asks for neither. `fail` gets a sentence and ends the command. */
export function replayOptionsOf(
  { record, replay, recordOnMiss }: Pick<ServeOptions, 'record' | 'replay' | 'recordOnMiss'>,
  fail: (message: string) => never,
): ReplayOptions | undefined {
  if (record !== undefined && replay !== undefined) fail("options '--record' and '--replay' cannot be used together");
  if (recordOnMiss !== undefined && replay === undefined) fail("option '--record-on-miss' has no effect without '--replay <dir>'");
  if (replay !== undefined) {
    return recordOnMiss === undefined ? { dir: replay } : { dir: replay, mode: 'record-on-miss', upstream: recordOnMiss };
  }
  if (record === undefined) return undefined;
  const [upstream, dir, ...rest] = record;
  if (upstream === undefined || dir === undefined || rest.length > 0) fail("option '--record' takes a URL and a folder");
  return { dir, mode: 'record', upstream };
}

/** Records or replays until the process receives SIGINT or SIGTERM. */
export async function serveReplay(replay: ReplayOptions, options: ServeOptions, output: Output): Promise<void> {
  const { port, host, allowHost } = options;
  const onDrift = (text: string): void => output.write(`Drift: ${text}`);
  const server = await startReplay({ ...replay, port, host, allowedHosts: allowHost, onDrift });
  output.write(greeting(server, replay));
  const signal = await untilStopped(options);
  await server.close();
  output.write(`Received ${signal}: ${summary(server)}`);
  for (const miss of server.misses) output.write(`  ${miss}`);
}

function greeting({ url }: ReplayServer, { mode, dir, upstream }: ReplayOptions): string {
  const work =
    mode === 'record'
      ? `records ${upstream} in ${dir}`
      : `replays ${dir}${upstream === undefined ? '' : `, records the rest of ${upstream}`}`;
  return [`This server ${work}`, '', 'Point a client at it:', `  export TINKER_BASE_URL=${url}`, '', 'Press Ctrl-C to stop.'].join('\n');
}

function summary({ recorded, replayed, misses, drift }: ReplayServer): string {
  return `${recorded} answers recorded, ${replayed} replayed, ${misses.length} requests without an answer, ${drift.length} differences from the schemas.`;
}
