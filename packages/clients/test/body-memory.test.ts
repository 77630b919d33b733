import { datum, ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { watchBodies } from './support/body-memory.js';
import { cannedRig } from './support/canned-rig.js';

const rig = cannedRig();
const one = datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } });

describe('the memory of a body', () => {
  it('is not used again when a chunk was sent twice: the first time may still be on its way', async () => {
    const training = await rig.connect().createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
    rig.server.on('forwardBackward').reply(503).once();
    const stop = watchBodies();
    await rig.clock.runUntil(training.forwardBackward([one], 'cross_entropy'));
    await training.forwardBackward([one], 'cross_entropy');
    await training.forwardBackward([one], 'cross_entropy');
    const [first, again, second, third] = stop();
    expect(again).toBe(first);
    expect(second).not.toBe(first);
    expect(third).toBe(second);
  });

  it('is not used again when a call failed', async () => {
    const training = await rig.connect({ maxRetryMs: 0 }).createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
    rig.server.on('forwardBackward').reply(400).once();
    const stop = watchBodies();
    await expect(training.forwardBackward([one], 'cross_entropy')).rejects.toMatchObject({ status: 400 });
    await training.forwardBackward([one], 'cross_entropy');
    const [refused, next] = stop();
    expect(next).not.toBe(refused);
  });

  it('is not used for two passes that wait for their results at the same time', async () => {
    const gate = rig.server.gate('forwardBackward', { at: 'execution' });
    const training = await rig.connect().createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
    const stop = watchBodies();
    const passes = [1, 2, 3].map(() => training.forwardBackward([one], 'cross_entropy').result());
    await rig.server.waitForCalls('forwardBackward', 3);
    gate.open();
    await Promise.all(passes);
    expect(new Set(stop()).size).toBe(3);
  });
});
