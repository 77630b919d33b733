import { type FrontHandler, NodeFront } from './node-front.js';
import type { ListenOptions } from './server-options.js';

const DEFAULT_HEADERS_TIMEOUT_MS = 60_000;
const DEFAULT_REQUEST_TIMEOUT_MS = 300_000;

/** Listens for a handler, and says under which origin clients reach it. */
export async function startFront(
  handler: Omit<FrontHandler, 'allowedHosts' | 'headersTimeoutMs' | 'requestTimeoutMs'>,
  options: ListenOptions,
): Promise<{ readonly front: NodeFront; readonly origin: string }> {
  const front = new NodeFront({
    ...handler,
    allowedHosts: allowedHosts(options),
    headersTimeoutMs: options.headersTimeoutMs ?? DEFAULT_HEADERS_TIMEOUT_MS,
    requestTimeoutMs: options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS,
  });
  const { port = 0, host = '127.0.0.1' } = options;
  await front.listen(port, host);
  const name = host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host;
  return { front, origin: `http://${name}:${front.port}` };
}

/** The configured names, and the one that the server listens on. */
function allowedHosts({ allowedHosts: names = [], host }: ListenOptions): readonly string[] | undefined {
  return names === 'any' ? undefined : [...names, ...(host === undefined ? [] : [host])].map((name) => name.toLowerCase());
}
