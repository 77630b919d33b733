import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DEFAULT_API_KEY } from '@tinkex/testkit';
import { built } from '../measure/built.js';

/** How a client reaches the server of a loop. */
export interface LoopServer {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/**
 * Runs a contender with a separate server for training loops, and ends the server.
 *
 * @param executionMs - How long operations take, by route.
 */
export async function withLoopServer<Result>(
  executionMs: Readonly<Record<string, number>>,
  run: (server: LoopServer) => Promise<Result>,
): Promise<Result> {
  const child = spawn(process.execPath, [built('server/loop-server.js'), JSON.stringify(executionMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return await run({ baseUrl: `http://127.0.0.1:${Number(line.toString())}`, apiKey: DEFAULT_API_KEY });
  } finally {
    child.stdin.end();
  }
}
