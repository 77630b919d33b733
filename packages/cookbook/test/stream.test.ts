import { join } from 'node:path';
import { conversationStream, type SupervisedConfig, trainSupervised } from '@tinkex/cookbook';
import type { Conversation } from '@tinkex/renderers';
import { readRun } from '@tinkex/telemetry/runs';
import { ByteTokenizer } from '@tinkex/types';
import type { ForwardBackwardRequest } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { rig } from './support/rig.js';

const setup = rig();
const ROWS = 20;

/** A stream, what was read of it, and how often it was opened and closed. */
function observed(rows = ROWS) {
  const seen = { read: 0, opened: 0, closed: 0 };
  async function* open(): AsyncGenerator<Conversation> {
    seen.opened++;
    try {
      for (let index = 0; index < rows; index++) {
        seen.read++;
        yield {
          messages: [
            { role: 'user', content: `What is ${index}?` },
            { role: 'assistant', content: String(index) },
          ],
        };
      }
    } finally {
      seen.closed++;
    }
  }
  return { seen, open };
}

async function train(name: string, data: SupervisedConfig['data'], options: Partial<SupervisedConfig> = {}) {
  const service = setup.connect();
  const logPath = join(setup.folder, name);
  const shared = { service, model: 'tinkex/tiny', learningRate: 0.02, loraRank: 8, batchSize: 3, numEpochs: 2, evalEvery: 4 };
  const run = await trainSupervised({ ...shared, data, logPath, onWarning: () => undefined, ...options });
  const { metrics } = await readRun(logPath);
  return { ...run, losses: metrics.map(({ step, train_mean_nll }) => [step, train_mean_nll]), metrics };
}

describe('a stream', () => {
  const settings = { length: ROWS, bufferSize: 4, testSize: 2 };

  it('is trained on in batches of its length, with its first conversations as the test set, and is closed', async () => {
    const { seen, open } = observed();
    const { step, metrics, report } = await train('run', conversationStream(open, settings));
    expect(step).toBe(12);
    expect(report).toBeUndefined();
    expect(metrics[0]).toHaveProperty('test/nll');
    // The test set and two epochs.
    expect(seen.opened).toBe(3);
    expect(seen.closed).toBe(3);
  });

  it('is not read whole: no further than its buffer and the batches in flight', async () => {
    const { seen, open } = observed(1_000_000);
    await train('run', conversationStream(open, { length: 1_000_000, bufferSize: 10 }), { maxSteps: 4 });
    expect(seen.read).toBeLessThan(4 * 3 + 2 * 10);
    expect(seen.closed).toBe(1);
  });

  it('continues exactly where a run stopped', async () => {
    // With a schedule that ends at maxSteps the learning rates would differ.
    const options = { lrSchedule: 'constant' } as const;
    const uninterrupted = await train('whole', conversationStream(observed().open, settings), options);
    await train('parts', conversationStream(observed().open, settings), { ...options, maxSteps: 8 });
    const continued = await train('parts', conversationStream(observed().open, settings), options);
    expect(continued.losses).toEqual(uninterrupted.losses);
    expect(continued.losses).toHaveLength(12);
  });

  it('that is shorter than it says, or opened only once, ends the run with an error', async () => {
    const short = train('short', conversationStream(observed(7).open, { length: 9 }), { evalEvery: 0 });
    await expect(short).rejects.toThrow('The stream ended after 7 conversations; its length should be 9');
    const once = observed().open();
    const again = train(
      'once',
      conversationStream(() => once, { length: ROWS }),
      { evalEvery: 0 },
    );
    await expect(again).rejects.toThrow('Open it at its beginning each time');
  });

  it('keeps its order without a seed', async () => {
    const asked: string[] = [];
    const { open } = observed();
    const seed = (shuffleSeed: number | null) => conversationStream(open, { length: ROWS, bufferSize: 4, shuffleSeed });
    for (const shuffleSeed of [null, 0]) {
      await train(`run-${shuffleSeed}`, seed(shuffleSeed), { numEpochs: 1, maxSteps: 2, evalEvery: 0 });
      const calls = setup.server.calls.filter(({ route }) => route === 'forwardBackward').slice(-2);
      const data = calls.flatMap(({ request }) => (request as ForwardBackwardRequest).data);
      asked.push(data.map(({ modelInput }) => /What is (\d+)/.exec(new ByteTokenizer().decode(modelInput.toInts()))?.[1]).join(' '));
    }
    expect(asked).toEqual(['0 1 2 3 4 5', '2 0 5 4 1 7']);
  });

  it('refuses what needs all conversations before the first step, and names the option', async () => {
    const stream = conversationStream(observed().open, settings);
    await expect(train('a', stream, { batchSize: undefined, batchTokens: 100 })).rejects.toThrow('instead of batchTokens');
    await expect(train('b', stream, { tooLong: 'drop' })).rejects.toThrow('cannot leave conversations out');
    await expect(train('c', conversationStream(observed().open, { length: 0 }))).rejects.toThrow('length');
    await expect(train('d', stream, { tooLong: 'refuse', maxLength: 5 })).rejects.toThrow('more than maxLength (5)');
    expect(setup.server.calls.some(({ route }) => route === 'forwardBackward')).toBe(false);
  });
});
