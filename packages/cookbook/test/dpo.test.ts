import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceClient } from '@tinkex/clients';
import { type BatchDataset, comparisonsFromJsonl, type DpoConfig, type PreferencePair, type TrainingRun, trainDpo } from '@tinkex/cookbook';
import { datumFromModelInputWeights } from '@tinkex/renderers';
import { readRun } from '@tinkex/telemetry/runs';
import { ByteTokenizer, ModelInput } from '@tinkex/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { rig } from './support/rig.js';
import { expectClose } from './support/vector-values.js';

interface Recorded {
  readonly run: string;
  readonly rows: string[];
  readonly rowsByEpochAndBatch: number[][][];
  readonly metricsJsonl: Record<string, number>[];
  readonly checkpointsJsonl: Record<string, unknown>[];
}

const setup = rig();
const tokenizer = new ByteTokenizer();
const recorded = readCookbookVectors<Recorded>('run-dpo-distillation').find(({ run }) => run === 'dpo') as Recorded;
const PROMPT = ModelInput.fromText('Q: nine? A:', tokenizer);

function answerDatum(row: string) {
  const tokens = [...tokenizer.encode(row), tokenizer.endOfTurnTokenId];
  const answerAt = row.indexOf('A:') + 2;
  return datumFromModelInputWeights(
    ModelInput.fromInts(tokens),
    tokens.map((_, index) => (index < answerAt ? 0 : 1)),
    { reduction: 'none' },
  );
}

/** The pairs of the recorded run: a row, and the row with its last character replaced. */
function recordedPairs(batches: readonly (readonly number[])[], onBatch?: () => void): BatchDataset<PreferencePair> {
  return {
    batchCount: () => batches.length,
    getBatch(_, index) {
      onBatch?.();
      return (batches[index] ?? []).map((row) => {
        const text = recorded.rows[row] as string;
        return { chosen: answerDatum(text), rejected: answerDatum(`${text.slice(0, -1)}x`) };
      });
    },
  };
}

const SETTINGS = { model: 'tinkex/tiny', learningRate: 0.001, loraRank: 8, evalEvery: 0, saveEvery: 2 } as const;

async function train(
  name: string,
  options: Partial<DpoConfig> & Pick<DpoConfig, 'data'>,
): Promise<TrainingRun & { readonly service: ServiceClient }> {
  const service = setup.connect();
  return { ...(await trainDpo({ ...SETTINGS, ...options, service, logPath: join(setup.folder, name) })), service };
}

async function outcomeOf({ service, logPath, samplerPath }: TrainingRun & { readonly service: ServiceClient }) {
  const { metrics } = await readRun(logPath);
  const sampler = await service.createSamplingClient({ modelPath: samplerPath });
  return {
    metrics: metrics.map((record) =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('time/') && name !== 'batch_time')),
    ),
    logprobs: Array.from(await sampler.computeLogprobs(PROMPT)).slice(1),
  };
}

describe('trainDpo', () => {
  it('gives the recorded numbers', async () => {
    const { logPath } = await train('dpo', { data: recordedPairs(recorded.rowsByEpochAndBatch[0] ?? []) });
    const { metrics, checkpoints } = await readRun(logPath);
    for (const [index, { state_path: _, ...record }] of recorded.metricsJsonl.entries()) {
      for (const [name, value] of Object.entries(record)) expectClose(Number(metrics[index]?.[name]), value, 1e-6);
    }
    expect(checkpoints.map(({ name, epoch, batch }) => ({ name, epoch, batch }))).toEqual(
      recorded.checkpointsJsonl.map(({ name, epoch, batch }) => ({ name, epoch, batch })),
    );
    expect(checkpoints.at(-1)?.final).toBe(true);
  });

  const BATCHES = [
    [0, 3],
    [1, 4],
    [2, 5],
    [0, 1],
    [2, 3],
  ];

  it('keeps its reference when it is resumed (in the reference it becomes the half-trained policy), wherever it was killed', async () => {
    const expected = await outcomeOf(await train('whole', { data: recordedPairs(BATCHES) }));
    expect(Number(expected.metrics.at(-1)?.margin)).toBeGreaterThan(0.05);
    let run = 0;
    const kill = fc.record({ at: fc.constantFrom('batch' as const, 'metrics' as const, 'checkpoint' as const), call: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 1, maxLength: 3 }), fc.nat(2), async (kills, rollingSaveEvery) => {
        const name = `killed-${run++}`;
        for (const { at, call } of kills) {
          let calls = 0;
          const count = (place: string) => {
            if (place === at && calls++ === call) throw new Error('killed');
          };
          const killing = { sinks: [{ logMetrics: () => count('metrics') }], onStep: () => count('checkpoint'), rollingSaveEvery };
          await train(name, { ...killing, data: recordedPairs(BATCHES, () => count('batch')) }).catch((error: Error) =>
            expect(error.message).toBe('killed'),
          );
        }
        expect(await outcomeOf(await train(name, { data: recordedPairs(BATCHES), rollingSaveEvery }))).toEqual(expected);
      }),
      { numRuns: Number(process.env.TINKEX_RESUME_RUNS ?? 3) },
    );
  });

  it('compares with the checkpoint that it started from, also when it is resumed', async () => {
    const start = await train('start', { data: recordedPairs(BATCHES) });
    const loadCheckpointPath = start.statePath as string;
    const expected = await outcomeOf(await train('loaded', { data: recordedPairs(BATCHES), loadCheckpointPath }));
    expectClose(Number(expected.metrics[0]?.dpo_loss), Math.LN2, 1e-6);
    await train('resumed', {
      data: recordedPairs(BATCHES),
      loadCheckpointPath,
      onStep: (step) => {
        if (step === 2) throw new Error('killed');
      },
    }).catch(() => undefined);
    expect(await outcomeOf(await train('resumed', { data: recordedPairs(BATCHES), loadCheckpointPath }))).toEqual(expected);
  });

  it('reads comparisons from a file, and prefers what was preferred', async () => {
    const file = join(setup.folder, 'comparisons.jsonl');
    const line = (label: string, a: string, b: string) => ({
      comparison: {
        prompt_conversation: [{ role: 'user', content: 'Hi' }],
        completion_A: [{ role: 'assistant', content: a }],
        completion_B: [{ role: 'assistant', content: b }],
      },
      label,
    });
    const lines = [line('A', 'Hello', 'Go away'), line('B', 'No', 'Good day'), { other: 1 }];
    await writeFile(file, lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const data = await comparisonsFromJsonl(file);
    expect(data).toHaveLength(2);
    const { metrics } = await train('file', { data, batchSize: 2, numEpochs: 4, learningRate: 0.01 });
    expect(metrics).toMatchObject({ accuracy: 1, num_pairs: 2 });
    await writeFile(file, '{"comparison": {}, "label": "C"}\nnonsense\n');
    await expect(comparisonsFromJsonl(file)).rejects.toThrow(/comparisons\.jsonl:1.*comparisons\.jsonl:2/s);
  });

  it('stops before it would exceed its budget', async () => {
    const { stopReason, step } = await train('budget', {
      data: recordedPairs(BATCHES),
      maxCostUsd: 400e-6,
      prices: { train: 1, prefill: 1, sample: 1 },
    });
    expect([stopReason, step]).toEqual(['max_cost', 2]);
  });
});
