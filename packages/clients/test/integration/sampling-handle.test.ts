import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ServiceClient } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';
import { expect, it } from 'vitest';
import { countingEngine, type EngineLog } from '../support/counting-engine.js';
import type { SamplingOrder } from '../support/sampling-worker.js';

const CALLS = 100;
const program = new URL('../support/sampling-worker.ts', import.meta.url);
const conditions = '--conditions=@tinkex/source';
/** Node 20 does not apply `--import` hooks to the entry of a thread: it starts with JavaScript that sets them up itself. */
const threadEntry = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(${JSON.stringify(program.href)});
});`;

/** Another holder of the handle, wherever it runs. */
interface Other extends AsyncDisposable {
  /** The next thing it says. */
  next(): Promise<string>;
  go(): void;
  readonly exit: Promise<number | null>;
}

/** What threads and processes have in common. */
interface Program {
  on(name: 'message', listener: (word: unknown) => void): unknown;
  once(name: 'exit', listener: (code: number | null) => void): unknown;
  once(name: 'error', listener: (error: unknown) => void): unknown;
}

function otherOf(source: Program, go: () => void, kill: () => unknown): Other {
  const words: string[] = [];
  const waiting: { resolve(word: string): void; reject(error: unknown): void }[] = [];
  const fail = (error: unknown): void => {
    for (const wait of waiting.splice(0)) wait.reject(error);
  };
  source.on('message', (word) => {
    const wait = waiting.shift();
    if (wait === undefined) words.push(String(word));
    else wait.resolve(String(word));
  });
  source.once('error', fail);
  const exit = new Promise<number | null>((resolve) => {
    source.once('exit', (code) => {
      fail(new Error(`It ended with ${code} before it had said everything.`));
      resolve(code);
    });
  });
  const next = (): Promise<string> => {
    const word = words.shift();
    return word === undefined ? new Promise((resolve, reject) => waiting.push({ resolve, reject })) : Promise.resolve(word);
  };
  return { next, go, exit, [Symbol.asyncDispose]: async () => void (await kill()) };
}

function inThread(order: SamplingOrder): Other {
  const worker = new Worker(threadEntry, { eval: true, execArgv: [conditions], workerData: order });
  return otherOf(
    worker as Program,
    () => worker.postMessage('go'),
    () => worker.terminate(),
  );
}

function inProcess(order: SamplingOrder): Other {
  const child = fork(fileURLToPath(program), [JSON.stringify(order)], { execArgv: [conditions, '--import', 'tsx'] });
  return otherOf(
    child as Program,
    () => child.send('go'),
    () => child.kill(),
  );
}

it('a thread and a process continue a sampling client from its JSON at the same time: no seq id twice, each call executed once', async () => {
  const log: EngineLog = { executed: [], checkpoints: [] };
  await using server = await startServer({ engine: countingEngine(log) });
  await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
  const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
  const handle = JSON.stringify(sampling);
  expect(handle).not.toContain(server.apiKey);

  const order = { ...server.clientOptions, handle, calls: CALLS };
  await using thread = inThread({ ...order, marker: 2 });
  await using child = inProcess({ ...order, marker: 3 });
  expect(await Promise.all([thread.next(), child.next()])).toEqual(['ready', 'ready']);
  const gate = server.gate('asample');
  for (const other of [thread, child]) other.go();
  const own = Array.from({ length: CALLS }, (_, index) =>
    sampling.sample({ prompt: [1, index], samplingParams: { maxTokens: 1 } }).result(),
  );
  // The calls of all three are on the server together before the first is answered.
  await gate.waitFor(3 * CALLS);
  gate.open();
  expect(await Promise.all(own)).toHaveLength(CALLS);
  expect(await Promise.all([thread.next(), child.next()])).toEqual([String(CALLS), String(CALLS)]);
  expect(await Promise.all([thread.exit, child.exit])).toEqual([0, 0]);

  const calls = server.callsTo('asample');
  expect(calls).toHaveLength(3 * CALLS);
  expect(new Set(calls.map(({ request }) => request.samplingSessionId))).toEqual(new Set([sampling.samplingSessionId]));
  expect(new Set(calls.map(({ request }) => String(request.seqId))).size).toBe(3 * CALLS);
  const prompts = [1, 2, 3].flatMap((marker) => Array.from({ length: CALLS }, (_, index) => `sample ${marker} ${index} seed undefined`));
  expect(log.executed.sort()).toEqual(prompts.sort());
  expect(server.count('createSamplingSession')).toBe(1);
  server.verify();
});
