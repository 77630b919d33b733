import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { built } from '../measure/built.js';

/** A server of canned answers in a separate process. */
export interface CannedServer {
  readonly url: string;
  /** The CPU time it used so far. */
  cpuMs(): Promise<number>;
  /** Answers all polls that it holds, and holds no more: the program that asked for it may have died. */
  release(): Promise<void>;
  /** Sets the result of every following pass. */
  setPassResult(outputs: number, numbers: number): Promise<void>;
  close(): void;
}

/** Starts the server. It ends with `close`, or with this process. */
export async function startServer(): Promise<CannedServer> {
  const child = spawn(process.execPath, [built('server/canned-server.js')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${Number(line.toString())}`;
  const control = async (action: string): Promise<{ readonly cpuMs: number }> => {
    const response = await fetch(`${url}/bench/${action}`, { method: 'POST' });
    return (await response.json()) as { cpuMs: number };
  };
  return {
    url,
    cpuMs: async () => (await control('usage')).cpuMs,
    release: async () => void (await control('release')),
    setPassResult: async (outputs, numbers) => void (await control(`pass-result/${outputs}/${numbers}`)),
    close: () => child.stdin.end(),
  };
}
