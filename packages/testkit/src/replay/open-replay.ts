import { systemClock } from '@tinkex/http/clock';
import { ConfigurationError } from '@tinkex/types';
import { errorReply } from '../requests/message.js';
import type { ListenOptions } from '../server/server-options.js';
import { startFront } from '../server/start-front.js';
import { ExchangeFolder } from './exchange-folder.js';
import { Recording } from './recording.js';
import { ReplayServer } from './replay-server.js';
import { Upstream } from './upstream.js';

const DEFAULT_MAX_BODY_BYTES = 256 << 20;
const DEFAULT_UPSTREAM_TIMEOUT_MS = 300_000;

/** Options of `openReplay()` and `startReplay()`. */
export interface ReplayOptions {
  /** The folder of the recording. */
  readonly dir: string;
  /**
   * `record` sends every request to the upstream and records the answers, into a folder without a recording. `replay` (default) answers from
   * the recording alone. `record-on-miss` answers from the recording, and records what it does not have.
   */
  readonly mode?: 'record' | 'replay' | 'record-on-miss' | undefined;
  /** The base URL of the server to record. Requests go there with the credentials that the client sent. Required unless it only replays. */
  readonly upstream?: string | undefined;
  /** How long the upstream may take for one answer. Default 300,000. */
  readonly upstreamTimeoutMs?: number | undefined;
  /** The largest body of a request; larger ones get 413. Default 256 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Called once for each difference between the traffic and the schemas of `@tinkex/types`. */
  readonly onDrift?: ((text: string) => void) | undefined;
}

/**
 * Opens a recording without a socket: call `handle`, or give `memoryTransport(server)` to a client. Throws `ConfigurationError` for options
 * that do not fit together and for a folder that cannot be used.
 */
export async function openReplay(options: ReplayOptions): Promise<ReplayServer> {
  const { dir, mode = 'replay', upstreamTimeoutMs = DEFAULT_UPSTREAM_TIMEOUT_MS, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  const upstream = upstreamOf(mode, options.upstream, upstreamTimeoutMs);
  const folder = new ExchangeFolder(dir);
  const recording = await Recording.open(folder);
  if (mode === 'replay' && recording.isEmpty) {
    throw new ConfigurationError({ message: `There is no recording in ${dir}. Record one first.`, option: 'dir' });
  }
  if (mode === 'record' && !recording.isEmpty) {
    const message = `${dir} already has a recording. Delete it to record again, or add to it with the mode record-on-miss.`;
    throw new ConfigurationError({ message, option: 'dir' });
  }
  return new ReplayServer({ folder, recording, upstream, maxBodyBytes, onDrift: options.onDrift });
}

/**
 * Records or replays a server on loopback. Close it, or use `await using`. It does not keep the process alive.
 *
 * @example
 * await using server = await startReplay({ dir: 'recordings/login', mode: 'record', upstream: 'https://tinker.example' });
 * const service = new ServiceClient({ baseUrl: server.url, apiKey });
 */
export async function startReplay(options: ReplayOptions & Omit<ListenOptions, 'otherRequests'>): Promise<ReplayServer> {
  const server = await openReplay(options);
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  const { front, origin } = await startFront(
    {
      clock: systemClock,
      maxBodyBytes,
      answer: (request) => server.answer(request),
      tooLarge: () => errorReply(413, `The body has more than ${maxBodyBytes} bytes`),
    },
    options,
  );
  server.listen(front, origin);
  return server;
}

function upstreamOf(mode: ReplayOptions['mode'], url: string | undefined, timeoutMs: number): Upstream | undefined {
  if (mode !== 'replay' && mode !== 'record' && mode !== 'record-on-miss') {
    throw new ConfigurationError({ message: `The mode must be record, replay or record-on-miss, got ${String(mode)}.`, option: 'mode' });
  }
  if (mode === 'replay') {
    if (url === undefined) return undefined;
    throw new ConfigurationError({ message: 'An upstream has no effect with the mode replay; use record-on-miss.', option: 'upstream' });
  }
  if (url === undefined) throw new ConfigurationError({ message: `The mode ${mode} needs an upstream.`, option: 'upstream' });
  return new Upstream(url, timeoutMs);
}
