import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { built } from '../measure/built.js';

/** A server of canned answers in a process of its own. */
export interface CannedServer {
  readonly url: string;
  /** The CPU time it has used so far. */
  cpuMs(): Promise<number>;
  /** Answers everything it holds back, and holds nothing back from now on: whoever asked for that may have died since. */
  release(): Promise<void>;
  /** What each pass answers from now on. */
  setPassResult(outputs: number, numbers: number): Promise<void>;
  close(): void;
}

/** Starts it; it ends with `close`, or with this process. */
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
