import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceClient } from '@tinkex/clients';
import { type SupervisedConfig, type SupervisedRun, trainSupervised } from '@tinkex/cookbook';
import { readRun } from '@tinkex/telemetry/runs';
import { ByteTokenizer, ModelInput } from '@tinkex/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordedData, recordedSft } from './support/recorded-sft.js';
import { rig } from './support/rig.js';

const setup = rig();
const recorded = recordedSft('sft');
const data = recordedData(recorded);
const SETTINGS = { model: 'tinkex/tiny', learningRate: 0.02, loraRank: 8, numEpochs: 3, evalEvery: 4, saveEvery: 3, data } as const;
const PROMPT = ModelInput.fromText('Q: nine? A:', new ByteTokenizer());

/** What must be the same whether or not a run was interrupted. */
async function outcomeOf(service: ServiceClient, { logPath, samplerPath }: SupervisedRun) {
  const { metrics } = await readRun(logPath);
  const sampler = await service.createSamplingClient({ modelPath: samplerPath });
  return {
    metrics: metrics.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('time/')))),
    logprobs: Array.from(await sampler.computeLogprobs(PROMPT)).slice(1),
  };
}

async function train(name: string, options: Partial<SupervisedConfig> = {}): Promise<SupervisedRun & { readonly service: ServiceClient }> {
  const service = setup.connect();
  return { ...(await trainSupervised({ ...SETTINGS, ...options, service, logPath: join(setup.folder, name) })), service };
}

type Kill = { readonly at: 'batch' | 'metrics' | 'checkpoint'; readonly call: number };

/** Ends a run at one point, as a crash would: what is in flight stays so. */
function killing({ at, call }: Kill): Partial<SupervisedConfig> {
  let calls = 0;
  const count = (place: Kill['at']) => {
    if (place === at && calls++ === call) throw new Error('killed');
  };
  return {
    data: recordedData(recorded, () => count('batch')),
    // Between the metrics of a step and its checkpoint, and behind both.
    sinks: [{ logMetrics: () => count('metrics') }],
    onStep: () => count('checkpoint'),
  };
}

describe('a resumed run', () => {
  it('ends as the uninterrupted one, wherever it was killed: no batch twice, none lost', async () => {
    const whole = await train('whole');
    const expected = await outcomeOf(whole.service, whole);
    expect(expected.metrics.map((record) => record['optimizer_step:max'])).toEqual(Array.from({ length: 12 }, (_, step) => step + 1));
    const kill = fc.record({ at: fc.constantFrom('batch' as const, 'metrics' as const, 'checkpoint' as const), call: fc.nat(11) });
    const ahead = fc.constantFrom(0, 1, 3);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 1, maxLength: 4 }), ahead, fc.nat(2), async (kills, submitAhead, rollingSaveEvery) => {
        const name = `killed-${run++}`;
        for (const each of kills) {
          const { service, ...killed } = await train(name, { submitAhead, rollingSaveEvery, ...killing(each) }).catch((error: Error) => {
            expect(error.message).toBe('killed');
            return { service: undefined };
          });
          await service?.close();
          if ('step' in killed) break;
        }
        const last = await train(name, { submitAhead, rollingSaveEvery });
        expect(last.stopReason).toBe('completed');
        expect(await outcomeOf(last.service, last)).toEqual(expected);
      }),
      { numRuns: Number(process.env.TINKEX_RESUME_RUNS ?? 12) },
    );
  });

  it('stops cleanly by a signal and continues from the very next step', async () => {
    const whole = await train('whole');
    const controller = new AbortController();
    const stopped = await train('signal', { signal: controller.signal, onStep: (step) => step === 4 && controller.abort() });
    expect(stopped.stopReason).toBe('aborted');
    // The step that was submitted ahead is part of the save.
    expect(stopped.step).toBe(6);
    const { checkpoints } = await readRun(stopped.logPath);
    expect(checkpoints.at(-1)).toMatchObject({ name: '000006', epoch: 1, batch: 2, final: undefined });
    const continued = await train('signal');
    expect(await outcomeOf(continued.service, continued)).toEqual(await outcomeOf(whole.service, whole));
  });

  it('that is complete trains nothing and saves nothing again', async () => {
    const first = await train('done');
    const before = await readRun(first.logPath);
    const again = await train('done');
    const after = await readRun(again.logPath);
    expect(again).toMatchObject({ step: 12, stopReason: 'completed', statePath: first.statePath, samplerPath: first.samplerPath });
    expect(again.metrics).toEqual(
      first.metrics.train_mean_nll === undefined ? {} : expect.objectContaining({ train_mean_nll: first.metrics.train_mean_nll }),
    );
    expect(after.checkpoints).toEqual(before.checkpoints);
    expect(after.metrics).toEqual(before.metrics);
  });

  it('continues when maxSteps is raised (the reference does nothing)', async () => {
    const first = await train('raised', { maxSteps: 5, lrSchedule: 'constant' });
    expect(first).toMatchObject({ step: 5, stopReason: 'max_steps' });
    const raised = await train('raised', { maxSteps: 9, lrSchedule: 'constant' });
    expect(raised).toMatchObject({ step: 9, stopReason: 'max_steps' });
    const whole = await train('whole', { maxSteps: 9, lrSchedule: 'constant' });
    const withoutProgress = async (run: Awaited<ReturnType<typeof train>>) => {
      const { metrics, logprobs } = await outcomeOf(run.service, run);
      return { logprobs, metrics: metrics.map(({ progress: _, ...record }) => record) };
    };
    expect(await withoutProgress(raised)).toEqual(await withoutProgress(whole));
  });

  it('marks its last record as final (the reference never does)', async () => {
    const { logPath } = await train('final');
    const { checkpoints } = await readRun(logPath);
    expect(checkpoints.map(({ name, final, epoch, batch }) => [name, final, epoch, batch])).toEqual([
      ['000003', undefined, 0, 3],
      ['000006', undefined, 1, 2],
      ['000009', undefined, 2, 1],
      ['final', true, 3, 0],
    ]);
  });

  it('refuses another batch size, model or data, and names what changed', async () => {
    await train('other', { maxSteps: 4, batchSize: 2 });
    await expect(train('other', { batchSize: 4 })).rejects.toThrow(/dataset_builder\.batch_size 2, and now it is 4/);
    await expect(train('other', { batchSize: 2, loraRank: 4 })).rejects.toThrow(/lora_rank 8, and now it is 4/);
  });

  it('uses an older checkpoint when the newest is gone', async () => {
    const controller = new AbortController();
    const stopped = await train('gone', { saveEvery: 2, signal: controller.signal, onStep: (step) => step === 3 && controller.abort() });
    await stopped.service.createRestClient().deleteCheckpointFromTinkerPath(stopped.statePath as string);
    const warnings: string[] = [];
    const continued = await train('gone', { saveEvery: 2, onWarning: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining('does not exist any more')]);
    const whole = await train('whole');
    expect(await outcomeOf(continued.service, continued)).toEqual(await outcomeOf(whole.service, whole));
  });

  it('survives a half-written last line of each file', async () => {
    const first = await train('torn', { maxSteps: 6, lrSchedule: 'constant' });
    await appendFile(join(first.logPath, 'checkpoints.jsonl'), '{"name": "0000');
    await appendFile(join(first.logPath, 'metrics.jsonl'), '{"step": 6, "ep');
    const continued = await train('torn', { lrSchedule: 'constant' });
    const { metrics, checkpoints, problems } = await readRun(continued.logPath);
    expect(metrics.map(({ step }) => step)).toEqual(Array.from({ length: 12 }, (_, step) => step));
    expect([checkpoints.at(-1)?.name, problems]).toEqual(['final', []]);
  });
});

describe("a run of the reference's", () => {
  /** Rewrites our folder as the reference would have left it: its save of step `said` contains the steps submitted ahead. */
  async function asReference(logPath: string, said: number, submitAhead: number, maxSteps: number | null = null): Promise<void> {
    const { config, checkpoints } = await readRun(logPath);
    const record = checkpoints.at(-1);
    const tokens = recorded.rowsByEpochAndBatch
      .flat()
      .slice(0, said + 1)
      .flat()
      .reduce((sum, row) => sum + (recorded.rows[row] as string).length, 0);
    const line = { name: 'x', batch: said % 4, epoch: Math.floor(said / 4), state_path: record?.statePath, elapsed_tokens: tokens };
    await writeFile(join(logPath, 'checkpoints.jsonl'), `${JSON.stringify(line)}\n`);
    await writeFile(join(logPath, 'config.json'), JSON.stringify({ ...config, submit_ahead: submitAhead, max_steps: maxSteps }));
  }

  it.each([0, 1, 2])('continues behind the steps that its checkpoint already has, with %i submitted ahead', async (submitAhead) => {
    const name = `python-${submitAhead}`;
    const first = await train(name, { maxSteps: 5, lrSchedule: 'constant' });
    // Five steps, 0 to 4, are in the weights.
    await asReference(first.logPath, 4 - submitAhead, submitAhead);
    const continued = await train(name, { lrSchedule: 'constant' });
    const whole = await train('whole', { lrSchedule: 'constant' });
    expect(continued.tokens).toBe(whole.tokens);
    const { metrics } = await outcomeOf(continued.service, continued);
    const expected = await outcomeOf(whole.service, whole);
    expect(metrics.map((record) => record['optimizer_step:max'])).toEqual(expected.metrics.map((record) => record['optimizer_step:max']));
    expect((await outcomeOf(continued.service, continued)).logprobs).toEqual(expected.logprobs);
  });

  it('that ended by max_steps continues there, although its final record says the end of the data', async () => {
    const first = await train('python-final', { maxSteps: 5, lrSchedule: 'constant' });
    const statePath = first.statePath as string;
    const tokens = first.tokens;
    const text = JSON.stringify({ name: 'final', batch: 0, epoch: 3, state_path: statePath, elapsed_tokens: tokens });
    await writeFile(join(first.logPath, 'checkpoints.jsonl'), `${text}\n`);
    const config = JSON.parse(await readFile(join(first.logPath, 'config.json'), 'utf8')) as object;
    await writeFile(join(first.logPath, 'config.json'), JSON.stringify({ ...config, max_steps: 5 }));
    const continued = await train('python-final', { lrSchedule: 'constant' });
    expect(continued).toMatchObject({ step: 12, stopReason: 'completed' });
    expect(continued.metrics['optimizer_step:max']).toBe(12);
  });
});

it('says which settings differ from those that a run began with', async () => {
  await train('changed', { numEpochs: 1, saveEvery: 2 });
  const warnings: string[] = [];
  await train('changed', { numEpochs: 2, saveEvery: 3, onWarning: (message) => warnings.push(message) });
  expect(warnings).toEqual([
    expect.stringMatching(/^The run continues with other settings than it began with: .*num_epochs was 1 and is 2/),
  ]);
});
