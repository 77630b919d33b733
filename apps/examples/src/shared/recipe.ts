import { rm } from 'node:fs/promises';
import { conversationsFrom, type TrainingRun, type TrainOptions, trainSupervised } from '@tinkex/cookbook';
import {
  type Completer,
  type Conversation,
  createCompleter,
  getRecommendedRendererName,
  getRenderer,
  type Renderer,
  toRendererTokenizer,
} from '@tinkex/renderers';
import { readRun } from '@tinkex/telemetry/runs';
import { lineChartSvg, type Series } from './line-chart.js';
import { LiveCurve } from './live-curve.js';
import { outputPath, shownPath, writeOutput } from './output.js';
import { type EmbeddedModel, openTarget, type Target } from './target.js';

/** What a recipe is called, and which number shows its progress. */
export interface RecipeOptions {
  /** The run folder is `out/runs/<name>`. */
  readonly name: string;
  readonly metric: string;
  /** The metric in the reader's words. */
  readonly label: string;
  readonly totalSteps: number;
  readonly signal: AbortSignal;
  /** Whether to start from the beginning even if an interrupted run is there. Default false. */
  readonly fresh?: boolean | undefined;
  /** Default `tinkex/tiny`. */
  readonly embeddedModel?: EmbeddedModel | undefined;
}

/** The options that every recipe passes to its loop. */
type SharedOptions = Pick<TrainOptions, 'service' | 'model' | 'logPath' | 'learningRate' | 'loraRank' | 'evalEvery' | 'signal' | 'onStep'>;

/** A run on the embedded engine, or on a service if the environment names one. */
export interface Recipe extends AsyncDisposable {
  readonly target: Target;
  readonly options: SharedOptions;
  /** The model's chat format. */
  readonly renderer: Renderer;
  /** Asks weights for messages. */
  ask(modelPath: string | undefined, maxTokens?: number): Promise<Completer>;
  /** A short supervised run before the recipe. Gives the weights to train on and those to sample from. */
  prepare(name: string, conversations: readonly Conversation[], numEpochs: number): Promise<Pick<TrainingRun, 'statePath' | 'samplerPath'>>;
  /** Says how the run ended, and how the number changed. False if it was interrupted: it continues the next time. */
  conclude(run: TrainingRun): Promise<boolean>;
}

/** Opens a recipe's run folder and server. A finished run starts again; an interrupted one continues. */
export async function openRecipe({
  name,
  metric,
  label,
  totalSteps,
  signal,
  fresh = false,
  embeddedModel,
}: RecipeOptions): Promise<Recipe> {
  const logPath = outputPath(`runs/${name}`);
  const { checkpoints, metrics: earlier } = await readRun(logPath);
  const isOver = fresh || checkpoints.at(-1)?.final === true;
  if (isOver) for (const path of [logPath, `${logPath}-server`]) await rm(path, { recursive: true, force: true });
  const target = await openTarget({ signal, embedded: { stateDir: `${logPath}-server` }, embeddedModel });
  const { service, baseModel: model } = target;
  const learningRate = target.server === undefined ? ('auto' as const) : target.learningRate;
  const renderer = await rendererOf(target);
  console.log(`Training on ${target.description}`);
  const noteAtAbort = (): string => 'Finishing the steps that are submitted, then saving. A second Ctrl-C stops immediately.';
  const values = isOver ? [] : earlier.flatMap((record) => (typeof record[metric] === 'number' ? [record[metric]] : []));
  if (values.length > 0) console.log(`Continuing after step ${values.length}, from ${shownPath(logPath)}`);
  const curve = new LiveCurve({ name: label, totalSteps, signal, noteAtAbort, earlier: values });
  const onStep: TrainOptions['onStep'] = (_, metrics) => curve.add(metrics[metric] ?? Number.NaN);
  return {
    target,
    options: { service, model, logPath, learningRate, loraRank: 16, evalEvery: 0, signal, onStep },
    renderer,
    async ask(modelPath, maxTokens = 40) {
      const sampler = await service.createSamplingClient({
        ...(modelPath === undefined ? { baseModel: model } : { modelPath }),
        retry: true,
      });
      return createCompleter({ sampler, renderer, samplingParams: { maxTokens, temperature: 0 } });
    },
    async prepare(part, conversations, numEpochs) {
      const shared = { service, model, learningRate, renderer, loraRank: 16, evalEvery: 0, signal };
      const data = conversationsFrom(conversations);
      return await trainSupervised({
        ...shared,
        logPath: `${logPath}-server/${part}`,
        data,
        numEpochs,
        batchSize: Math.min(32, conversations.length),
      });
    },
    async conclude(run) {
      if (run.stopReason === 'aborted') {
        console.log(`Interrupted after step ${run.step}. Nothing is lost:\nrun it again to continue, or with --fresh to start over.`);
        return false;
      }
      console.log(`\nRun folder: ${shownPath(logPath)}\nSaved as ${run.samplerPath}`);
      console.log(`${label}: ${curve.values[0]?.toFixed(3)} → ${curve.values.at(-1)?.toFixed(3)}`);
      console.log(`Chart: ${await writeOutput(`${name}.svg`, await chartOf(logPath, metric, label))}`);
      return true;
    },
    [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
  };
}

/** The recipe's number over the steps, and the loss on held-back data where the run evaluated it. */
async function chartOf(logPath: string, metric: string, label: string): Promise<string> {
  const { metrics } = await readRun(logPath);
  const seriesOf = (name: string, key: string): Series => ({
    name,
    points: metrics.flatMap((record) => {
      const value = record[key];
      return typeof value === 'number' && typeof record['step'] === 'number' ? [{ step: record['step'] + 1, value }] : [];
    }),
  });
  const series = [seriesOf('train', metric), seriesOf('validation', 'test/nll')].filter(({ points }) => points.length > 0);
  return lineChartSvg({ title: label, series });
}

async function rendererOf({ service, baseModel }: Target): Promise<Renderer> {
  const sampler = await service.createSamplingClient({ baseModel, retry: true });
  return getRenderer(getRecommendedRendererName(baseModel), toRendererTokenizer(await sampler.getTokenizer()));
}
