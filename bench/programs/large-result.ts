/** A pass with a large result: receives and decodes it, and sums its first numbers. */
import { ServiceClient } from '@tinkex/clients';
import { datum, ModelInput } from '@tinkex/types';
import { request } from 'undici';
import { program } from '../measure/program.js';
import { collectGarbage, stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly contender: 'tinkex' | 'undici';
  readonly baseUrl: string;
  readonly results: number;
}

const data = [datum({ modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { targetTokens: [2, 3, 4], weights: [1, 1, 1] } })];

async function tinkex(baseUrl: string): Promise<() => Promise<unknown>> {
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false });
  const training = await service.createLoraTrainingClient({ baseModel: 'bench' });
  return async () => {
    const { lossFnOutputs } = await training.forwardBackward(data, 'cross_entropy');
    return lossFnOutputs.reduce((sum, output) => sum + Number(output['logprobs']?.data[0]), 0);
  };
}

/** The lower bound: receives the bytes into one buffer. */
function rawUndici(baseUrl: string): () => Promise<unknown> {
  return async () => {
    const response = await request(`${baseUrl}/api/v1/retrieve_future`, { method: 'POST', body: '{"request_id":"pass"}' });
    return (await response.body.arrayBuffer()).byteLength;
  };
}

await program(async ({ contender, baseUrl, results }: Task) => {
  const receive = contender === 'tinkex' ? await tinkex(baseUrl) : rawUndici(baseUrl);
  await receive();
  collectGarbage();
  const stop = stopwatch();
  for (let result = 0; result < results; result += 1) await receive();
  const { cpuMs, wallMs } = stop();
  return { cpuMsPerResult: cpuMs / results, wallMsPerResult: wallMs / results };
});
