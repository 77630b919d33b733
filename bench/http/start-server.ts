import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts the echo server in its own process. It ends with `close`, or with this process. */
export async function startEchoServer(): Promise<{ readonly url: string; close(): void }> {
  const child = fork(fileURLToPath(new URL('./echo-server.ts', import.meta.url)), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, close: () => child.disconnect() };
}
