import { rm } from 'node:fs/promises';
import type { SamplingClient } from '@tinkex/clients';
import { conversationsFrom, messageText, type TrainingRun, type TrainOptions, trainSupervised } from '@tinkex/cookbook';
import {
  type Completer,
  type Conversation,
  createCompleter,
  getRecommendedRendererName,
  getRenderer,
  type Message,
  type Renderer,
  type RendererTokenizer,
  toRendererTokenizer,
} from '@tinkex/renderers';
import { readRun } from '@tinkex/telemetry/runs';
import { ByteTokenizer, ConfigurationError, isByteTokenizerId } from '@tinkex/types';
import { INSPECT_HELP } from './inspection.js';
import { lineChartSvg, type Series } from './line-chart.js';
import { LiveCurve } from './live-curve.js';
import { outputPath, shownPath, writeOutput } from './output.js';
import { type EmbeddedModel, openTarget, type Target } from './target.js';
import { quoted } from './terminal.js';

const RANK = 16;

/** What a recipe is called, and which number shows its progress. */
export interface RecipeOptions {
  /** The run folder is `out/runs/<name>`. */
  readonly name: string;
  readonly metric: string;
  /** The metric in the reader's words. */
  readonly label: string;
  readonly totalSteps: number;
  readonly signal: AbortSignal;
  /** What the user asked for. Default: nothing. */
  readonly flags?: Readonly<Record<keyof typeof RECIPE_FLAGS, boolean>> | undefined;
  /** The learning rate of an untrained model. Default 0.02; reinforcement learning needs smaller steps. */
  readonly untrainedRate?: number | undefined;
  /** Default `tinkex/tiny`. */
  readonly embeddedModel?: EmbeddedModel | undefined;
  /** Whether the model speaks several times, or calls tools. Models that read bytes then write Qwen3's format. Default false. */
  readonly hasTurns?: boolean | undefined;
}

/** The switches of every recipe. */
export const RECIPE_FLAGS = { fresh: 'discard an interrupted run and start from the beginning', inspect: INSPECT_HELP };

/** The options that every recipe passes to its loop. */
type SharedOptions = Pick<
  TrainOptions,
  'service' | 'model' | 'logPath' | 'learningRate' | 'loraRank' | 'renderer' | 'evalEvery' | 'signal' | 'onStep'
>;

/** A run on the embedded engine, or on a service if the environment names one. */
export interface Recipe extends AsyncDisposable {
  readonly target: Target;
  /** Whether the model is one of the testkit's, which can do nothing before they are trained. */
  readonly isUntrained: boolean;
  readonly options: SharedOptions;
  /** The model's chat format. */
  readonly renderer: Renderer;
  /** Samples from weights; without a path, from the base model. */
  sampler(modelPath?: string): Promise<SamplingClient>;
  /** Asks weights for messages. */
  ask(modelPath: string | undefined, maxTokens?: number): Promise<Completer>;
  /**
   * Teaches an untrained model what any chat model can do, in a short supervised run before the recipe. Gives the weights to train on and those to sample from;
   * undefined for a model that is trained already.
   */
  prepare(name: string, conversations: readonly Conversation[], numEpochs: number): Promise<TrainingRun | undefined>;
  /** Asks weights a few questions, and prints and gives what they answer. */
  showAnswers(modelPath: string | undefined, questions: readonly string[], maxTokens?: number): Promise<readonly string[]>;
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
  flags = { fresh: false, inspect: false },
  untrainedRate,
  embeddedModel,
  hasTurns = false,
}: RecipeOptions): Promise<Recipe> {
  const logPath = outputPath(`runs/${name}`);
  const { checkpoints, metrics: earlier } = await readRun(logPath);
  const isOver = flags.fresh || checkpoints.at(-1)?.final === true;
  if (isOver) for (const path of [logPath, `${logPath}-server`]) await rm(path, { recursive: true, force: true });
  const inspected = flags.inspect ? { name, rank: RANK, totalSteps } : undefined;
  const target = await openTarget({ signal, embedded: { stateDir: `${logPath}-server` }, embeddedModel, inspected });
  const { service, baseModel: model } = target;
  const isUntrained = isByteTokenizerId(model);
  const ownFormat = recommendedFormat(model);
  const isListed = ownFormat !== undefined;
  const learningRate = isUntrained ? (untrainedRate ?? target.learningRate) : isListed ? ('auto' as const) : target.learningRate;
  const sampler = (modelPath?: string) =>
    service.createSamplingClient({ ...(modelPath === undefined ? { baseModel: model } : { modelPath }), retry: true });
  const tokenizer = isUntrained && hasTurns ? chatBytes() : toRendererTokenizer(await (await sampler()).getTokenizer());
  const renderer = getRenderer(isUntrained && hasTurns ? 'qwen3_instruct' : (ownFormat ?? 'role_colon'), tokenizer);
  console.log(`Training on ${target.description}`);
  if (!isListed)
    console.log(
      `The model table does not know ${model}: it is trained in the chat format of base models, with a learning rate of ${learningRate}.`,
    );
  const noteAtAbort = (): string => 'Finishing the steps that are submitted, then saving. A second Ctrl-C stops immediately.';
  const values = isOver ? [] : earlier.flatMap((record) => (typeof record[metric] === 'number' ? [record[metric]] : []));
  if (values.length > 0) console.log(`Continuing after step ${values.length}, from ${shownPath(logPath)}`);
  const curve = new LiveCurve({ name: label, totalSteps, signal, noteAtAbort, earlier: values });
  const onStep: TrainOptions['onStep'] = (_, metrics) => curve.add(metrics[metric] ?? Number.NaN);
  const ask = async (modelPath: string | undefined, maxTokens = 40) =>
    createCompleter({ sampler: await sampler(modelPath), renderer, samplingParams: { maxTokens, temperature: 0 } });
  return {
    target,
    isUntrained,
    sampler,
    options: { service, model, logPath, learningRate, loraRank: RANK, renderer, evalEvery: 0, signal, onStep },
    renderer,
    ask,
    async prepare(part, conversations, numEpochs) {
      if (!isUntrained) return undefined;
      const shared = { service, model, learningRate: target.learningRate, renderer, loraRank: RANK, evalEvery: 0, signal };
      const data = conversationsFrom(conversations);
      return await trainSupervised({
        ...shared,
        logPath: `${logPath}-server/${part}`,
        data,
        numEpochs,
        batchSize: Math.min(16, conversations.length),
      });
    },
    async showAnswers(modelPath, questions, maxTokens) {
      const complete = await ask(modelPath, maxTokens);
      const texts = await Promise.all(
        questions.map(async (content) => messageText((await complete([{ role: 'user', content }], { signal })).message)),
      );
      for (const [index, question] of questions.entries()) console.log(`  ${question}  →  ${quoted(texts[index] ?? '')}`);
      return texts;
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

/** Undefined for a model that the table does not know, such as one on your own server. */
function recommendedFormat(model: string): string | undefined {
  try {
    return getRecommendedRendererName(model);
  } catch (error) {
    if (ConfigurationError.isInstance(error)) return undefined;
    throw error;
  }
}

/** A question and its answer, as a conversation to learn from. */
export function exchange(question: string, answer: string): Conversation {
  const messages: Message[] = [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
  return { messages };
}

/** Bytes with the two special tokens that Qwen3's format needs. */
function chatBytes(): RendererTokenizer {
  const tokenizer = new ByteTokenizer();
  const special: Readonly<Record<string, number>> = { '<|im_start|>': tokenizer.bosTokenId, '<|im_end|>': tokenizer.endOfTurnTokenId };
  const encode: RendererTokenizer['encode'] = (text, { addedTokens = 'all' } = {}) => {
    const parts = addedTokens === 'all' ? text.split(/(<\|im_(?:start|end)\|>)/) : [text];
    return parts.flatMap((part) => special[part] ?? tokenizer.encode(part));
  };
  return { ...toRendererTokenizer(tokenizer), encode, tokenId: (token) => special[token] ?? tokenizer.tokenId(token) };
}
