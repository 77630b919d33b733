/** Fine-tune on a JSONL file of conversations: validation split, checkpoints, and an exact resume after Ctrl-C. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { ServiceClient, TrainingClient } from '@tinkex/clients';
import { messageText } from '@tinkex/cookbook';
import { conversationToDatum, getRecommendedRendererName, getRenderer, toRendererTokenizer } from '@tinkex/renderers';
import { type Datum, lossOf, NotFoundError } from '@tinkex/types';
import { type Conversation, readConversations, weightOf } from './shared/conversations.js';
import { INSPECT_HELP } from './shared/inspection.js';
import { lineChartSvg, seriesOf } from './shared/line-chart.js';
import { LiveCurve } from './shared/live-curve.js';
import { outputPath, shownPath, writeOutput } from './shared/output.js';
import { runExample } from './shared/run-example.js';
import { RunMemory, type SavedRun } from './shared/saved-run.js';
import { seededOrder } from './shared/seeded-order.js';
import { openTarget } from './shared/target.js';
import { quoted } from './shared/terminal.js';

const program = {
  about: 'Trains on conversations and validates on held-out ones. Ctrl-C saves; the next run continues exactly where this one stopped.',
  options: {
    data: {
      default: shownPath(fileURLToPath(new URL('../data/conversations.jsonl', import.meta.url))),
      help: 'a JSONL file with one conversation per line',
    },
    epochs: { default: '8', help: 'passes over all conversations' },
    'batch-size': { default: '8', help: 'conversations per step' },
    'save-every': { default: '10', help: 'steps between checkpoints' },
  },
  flags: { fresh: 'discard an interrupted run and start from the beginning', inspect: INSPECT_HELP },
};

await runExample(program, async ({ signal, options, flags, count }) => {
  const conversations = seededOrder(await readConversations(options.data), 1);
  const validationSize = Math.max(1, Math.floor(conversations.length / 5));
  const [held, used] = [conversations.slice(0, validationSize), conversations.slice(validationSize)];
  const batchSize = count('batch-size');
  const saveEvery = count('save-every');
  const stepsPerEpoch = Math.ceil(used.length / batchSize);
  const totalSteps = stepsPerEpoch * count('epochs');

  const memory = new RunMemory('supervised-run.json');
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([conversations, batchSize]))
    .digest('hex');
  if (flags.fresh) await memory.forget();
  const saved = await memory.read();
  if (saved !== undefined && saved.fingerprint !== fingerprint) {
    throw new Error('The interrupted run used different data or a different batch size. Use the same ones, or start over with --fresh.');
  }
  const settings = { epochs: count('epochs'), 'save-every': saveEvery };
  for (const [name, value] of Object.entries(settings)) {
    const before = saved?.settings?.[name] ?? value;
    if (before !== value) console.log(`The interrupted run was started with --${name} ${before}; it continues with ${value}.`);
  }

  await using target = await openTarget({
    signal,
    embedded: { stateDir: outputPath('supervised-server') },
    embeddedModel: 'tinkex/small', // it reads the whole prompt
    inspected: flags.inspect ? { name: 'supervised', totalSteps } : undefined,
  });
  console.log(`Training on ${target.description}`);
  console.log(`Conversations: ${used.length} for training, ${held.length} for validation; steps: ${totalSteps}\n`);
  const training = await startOrResume(target.service, target.baseModel, saved);
  // The chat format of the model: what it reads, and which tokens are the assistant's.
  const renderer = getRenderer(getRecommendedRendererName(target.baseModel), toRendererTokenizer(await training.getTokenizer()));
  const toDatum = ({ messages }: Conversation): Datum => conversationToDatum(messages, renderer, { reduction: 'none' });
  const validation = held.map(toDatum);
  const before = await evaluate(training, validation);

  let savedStep = saved?.step ?? 0;
  const save = async (step: number): Promise<void> => {
    if (step === savedStep) return;
    const { path } = await training.saveState(`step-${String(step).padStart(4, '0')}`, { ttlSeconds: 7 * 24 * 3600 });
    await memory.write({ path, step, losses: curve.values, fingerprint, settings });
    savedStep = step;
  };
  const noteAtAbort = (): string =>
    `Finishing this step, then saving. A second Ctrl-C stops immediately\nand loses everything after step ${savedStep}.`;
  const curve = new LiveCurve({ name: 'loss', totalSteps, signal, noteAtAbort, earlier: saved?.losses ?? [] });
  let step = saved?.step ?? 0;
  while (step < totalSteps && !signal.aborted) {
    const data = batch(used, step, batchSize).map(toDatum);
    const forward = training.forwardBackward(data, 'cross_entropy');
    const update = training.optimStep({ learningRate: target.learningRate });
    const output = await forward;
    await update;
    step += 1;
    curve.add((lossOf(output, data) ?? Number.NaN) / weightOf(data));
    if (step % saveEvery === 0 && step < totalSteps) await save(step);
  }
  if (step < totalSteps) {
    await save(step);
    console.log(`Interrupted after step ${step}. Nothing is lost:\nrun it again to continue, or with --fresh to start over.`);
    return;
  }

  const { path } = await training.saveWeightsForSampler('final', { ttlSeconds: 7 * 24 * 3600 });
  await memory.forget();
  console.log(`\nSaved as ${path}`);
  console.log(`Validation loss per token: ${before.toFixed(6)} → ${(await evaluate(training, validation)).toFixed(6)}`);
  const sampling = await target.service.createSamplingClient({ modelPath: path, retry: true, signal });
  for (const { messages } of held.slice(0, 3)) {
    const question = messages.slice(0, -1);
    const samplingParams = { maxTokens: 40, temperature: 0, stop: renderer.getStopSequences() };
    const { sequences } = await sampling.sample({ prompt: renderer.buildGenerationPrompt(question), samplingParams }, { signal });
    const { message } = renderer.parseResponse(sequences[0]?.tokens ?? []);
    console.log(`  ${question.at(-1)?.content}  →  ${quoted(messageText(message).trim())}`);
  }
  const picture = await writeOutput(
    'supervised-loss.svg',
    lineChartSvg({ title: 'Loss per token', series: [seriesOf('train', curve.values)] }),
  );
  console.log(`Loss curve: ${picture}`);
});

/** The checkpoint includes the state of the optimizer, so a resumed run continues as if it had never stopped. */
async function startOrResume(service: ServiceClient, baseModel: string, saved: SavedRun | undefined): Promise<TrainingClient> {
  if (saved === undefined) return service.createLoraTrainingClient({ baseModel, rank: 16, seed: 1 });
  console.log(`Continuing after step ${saved.step}, from ${saved.path}\n`);
  try {
    return (await service.resume({ path: saved.path })).training;
  } catch (error) {
    if (!NotFoundError.isInstance(error)) throw error;
    throw new Error('This server does not have the checkpoint: it has expired, or it is on another server. Start over with --fresh.', {
      cause: error,
    });
  }
}

/** The conversations of a step: in a new order each epoch, and always the same for the same step. */
function batch(conversations: readonly Conversation[], step: number, size: number): Conversation[] {
  const stepsPerEpoch = Math.ceil(conversations.length / size);
  const start = (step % stepsPerEpoch) * size;
  return seededOrder(conversations, 100 + Math.floor(step / stepsPerEpoch)).slice(start, start + size);
}

async function evaluate(training: TrainingClient, data: readonly Datum[]): Promise<number> {
  const output = await training.forward(data, 'cross_entropy');
  return (lossOf(output, data) ?? Number.NaN) / weightOf(data);
}
