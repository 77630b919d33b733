import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { SamplingClient, ServiceClient } from '@tinkex/clients';

/** What a worker receives. The handle holds no credential; the key comes on its own. */
export interface SamplingOrder {
  readonly handle: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly calls: number;
  /** The first token of its prompts; the second is the call's number. */
  readonly marker: number;
}

/**
 * Another holder of a sampling client: says `ready`, waits for `go`, samples everything at the same time, says how many sequences came. Runs as a
 * worker thread (the order is its `workerData`) or as a child process (the order is its last argument).
 */
async function run(order: SamplingOrder, say: (word: string) => void, go: Promise<unknown>): Promise<void> {
  const { handle, baseUrl, apiKey, calls, marker } = order;
  await using service = new ServiceClient({ baseUrl, apiKey, telemetry: false });
  const sampling = await SamplingClient.fromJSON(handle, service);
  say('ready');
  await go;
  const prompts = Array.from({ length: calls }, (_, index) => [marker, index]);
  const responses = await Promise.all(prompts.map((prompt) => sampling.sample({ prompt, samplingParams: { maxTokens: 1 } })));
  say(String(responses.reduce((sum, { sequences }) => sum + sequences.length, 0)));
}

if (isMainThread) {
  const go = new Promise((resolve) => process.once('message', resolve));
  await run(JSON.parse(process.argv[2] ?? '') as SamplingOrder, (word) => process.send?.(word), go);
  process.disconnect();
} else {
  const go = new Promise((resolve) => parentPort?.once('message', resolve));
  await run(workerData as SamplingOrder, (word) => parentPort?.postMessage(word), go);
}
