import type { ClientDynamicConfigResponse } from '@tinkex/types/wire';
import { clientDynamicConfigResponse } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import { CancelQueue } from './cancel-queue.js';

/** A caller that answers a batch when the test takes it. */
function setUp(config: ClientDynamicConfigResponse | undefined) {
  const open: { readonly requestId: string; readonly settle: (error?: Error) => void }[] = [];
  const call = (endpoint: string, { body }: { readonly body: { readonly requestId: string } }) => {
    expect(endpoint).toBe('cancelFuture');
    return new Promise<void>((resolve, reject) => {
      open.push({ requestId: body.requestId, settle: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  };
  const queue = new CancelQueue({ call } as unknown as EndpointCaller, () => config);
  const takeBatch = async (error?: Error): Promise<string[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    const batch = open.splice(0);
    for (const { settle } of batch) settle(error);
    return batch.map(({ requestId }) => requestId);
  };
  return { queue, takeBatch };
}

describe('sample-cancel.json', () => {
  const cases = readVectors<{ dynamic_config: object; abandoned: string[] }, { batches: string[][] }>('sample-cancel');

  it('finds the cases', () => {
    expect(cases).toHaveLength(3);
  });

  it.each(cases)('$name', async ({ input, expected }) => {
    const { queue, takeBatch } = setUp(clientDynamicConfigResponse.decode(input.dynamic_config));
    for (const requestId of input.abandoned) queue.add(requestId);
    const batches: string[][] = [];
    for (let batch = await takeBatch(); batch.length > 0; batch = await takeBatch()) batches.push(batch);
    expect(batches).toEqual(expected.batches);
  });
});

describe('CancelQueue', () => {
  const config = clientDynamicConfigResponse.decode({ sample_cancel_enabled: true, sample_cancel_max_batch_size: 2 });

  it('continues after a batch that failed, and takes up what was abandoned in the meantime', async () => {
    const { queue, takeBatch } = setUp(config);
    queue.add('a');
    expect(await takeBatch(new Error('no'))).toEqual(['a']);
    queue.add('b');
    expect(await takeBatch()).toEqual(['b']);
  });

  it('makes no request for a server without such a configuration', async () => {
    const { queue, takeBatch } = setUp(undefined);
    queue.add('a');
    expect(await takeBatch()).toEqual([]);
  });

  it('sends one at a time to a server that names no usable size', async () => {
    const { queue, takeBatch } = setUp({ ...config, sampleCancelMaxBatchSize: 0 });
    queue.add('a');
    queue.add('b');
    expect([await takeBatch(), await takeBatch()]).toEqual([['a'], ['b']]);
  });
});
