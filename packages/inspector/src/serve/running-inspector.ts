import { startFetchServer } from '@tinkex/http/server';
import type { Inspector } from './inspector.js';

/** Where the page is served. Always on loopback. */
export interface ListenOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Whether the page keeps the process running. Default: false for {@link attachInspector}, true for {@link inspectFolder}. */
  readonly keepsAlive?: boolean | undefined;
  /** Receives the line with the address. Default: it goes to `process.stderr`. */
  readonly log?: ((line: string) => void) | undefined;
}

/** An inspector on a port. */
export interface RunningInspector extends AsyncDisposable {
  /** The address of the page, with its token. It is a secret: it opens the runs. */
  readonly url: string;
  readonly port: number;
  /** Closes the page. Idempotent. */
  close(): Promise<void>;
}

/** Puts an inspector on a port of the loopback interface. Rejects when the port is taken. */
export async function listen(inspector: Inspector, { port, keepsAlive, log = writeLine }: ListenOptions): Promise<RunningInspector> {
  const server = await startFetchServer((request) => inspector.handle(request), { port, keepsAlive });
  const url = server.url + inspector.path;
  log(`Inspector: ${url}`);
  async function close(): Promise<void> {
    inspector.close();
    await server.close();
  }
  return { url, port: server.port, close, [Symbol.asyncDispose]: close };
}

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
