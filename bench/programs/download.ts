/** Streams 64 MiB: CPU, and memory beyond that of a process that reads nothing. */
import { HttpClient } from '@tinkex/http';
import { Pool } from 'undici';
import { program } from '../measure/program.js';
import { collectGarbage, stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly contender: 'tinkex' | 'undici';
  readonly baseUrl: string;
  readonly downloads: number;
}

const FILE_BYTES = 64 * 1024 * 1024;

async function drain(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  let peakBytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    const { heapUsed, external } = process.memoryUsage();
    peakBytes = Math.max(peakBytes, heapUsed + external);
  }
  if (bytes !== FILE_BYTES) throw new Error(`Read ${bytes} bytes.`);
  return peakBytes;
}

await program(async ({ contender, baseUrl, downloads }: Task) => {
  const pool = new Pool(baseUrl);
  const client = new HttpClient({ baseUrl });
  const download =
    contender === 'tinkex'
      ? async () => drain((await client.stream({ method: 'GET', path: '/file' })).body)
      : async () => drain((await pool.request({ method: 'GET', path: '/file' })).body);
  await download();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  let peakBytes = 0;
  const stop = stopwatch();
  for (let count = 0; count < downloads; count += 1) peakBytes = Math.max(peakBytes, await download());
  return { cpuMsPerFile: stop().cpuMs / downloads, extraPeakBytes: peakBytes - heapUsed - external };
});
