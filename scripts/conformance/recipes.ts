import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonRecord, parseLenientJson } from '../../packages/telemetry/src/runs/index.js';
import { type PythonEnvironment, recipesEnvironment } from './python-environments.js';
import { RECIPE_MODEL, writeRecipeFolder } from './recipe-data.js';
import { startServeProcess } from './serve-process.js';

/** What the learning rates of the programs, which are for large models, are multiplied by. The README of the testkit says it. */
const LEARNING_RATE_FACTOR = 250;

/** A program of the cookbook: how it is started, and what its metrics must say in the end. */
interface Recipe {
  readonly name: string;
  readonly module: string;
  readonly folder: 'learn' | 'warm-up';
  /** The default of the program. */
  readonly learningRate: number;
  readonly settings: readonly string[];
  /** A run to start from, as the program's own setting or as the run folder that it continues. */
  readonly from?: (paths: Checkpoints) => { readonly settings?: readonly string[]; readonly record?: JsonRecord };
  readonly metric: string;
  /** Compares the mean of the first three values with that of the last three. */
  readonly hasLearned: (first: number, last: number) => boolean;
}

type Checkpoints = (run: string, name: string, kind: 'state_path' | 'sampler_path') => string;

const model = `model_name=${RECIPE_MODEL}`;

/** In the order in which they run: later ones start from checkpoints of earlier ones. */
const RECIPES: readonly Recipe[] = [
  {
    name: 'sl_basic',
    module: 'recipes.sl_basic',
    folder: 'learn',
    learningRate: 2e-4,
    settings: ['save_every=5'],
    metric: 'train_mean_nll',
    hasLearned: (first, last) => last < first / 10,
  },
  {
    name: 'sl_loop',
    module: 'recipes.sl_loop',
    folder: 'warm-up',
    learningRate: 1e-4,
    settings: ['batch_size=16', 'save_every=0'],
    metric: 'train_mean_nll',
    hasLearned: (first, last) => last < first / 10,
  },
  {
    name: 'rl_loop',
    module: 'recipes.rl_loop',
    folder: 'learn',
    learningRate: 4e-5,
    settings: ['batch_size=16', 'group_size=8', 'max_tokens=16', 'max_steps=30'],
    from: (paths) => ({ record: { name: 'warm-up', batch: 0, state_path: paths('sl_loop', 'final', 'state_path') } }),
    metric: 'reward/total',
    hasLearned: (first, last) => first < 0.3 && last > first + 0.4,
  },
  {
    name: 'rl_basic',
    module: 'recipes.rl_basic',
    folder: 'learn',
    learningRate: 4e-5,
    settings: ['max_tokens=16', 'max_steps=16'],
    from: (paths) => ({ settings: [`load_checkpoint_path=${paths('sl_loop', 'final', 'state_path')}`] }),
    metric: 'env/all/correct',
    hasLearned: (first, last) => first < 0.3 && last > first + 0.4,
  },
  {
    name: 'dpo',
    module: 'recipes.preference.dpo.train',
    folder: 'learn',
    learningRate: 1e-5,
    settings: ['batch_size=12'],
    metric: 'accuracy',
    hasLearned: (_, last) => last >= 0.95,
  },
  {
    name: 'on_policy_distillation',
    module: 'recipes.distillation.on_policy_distillation',
    folder: 'learn',
    learningRate: 1e-4,
    settings: ['groups_per_batch=12', 'max_tokens=40', 'lora_rank=32', 'max_steps=20'],
    from: (paths) => ({
      settings: [
        `teacher_model=${RECIPE_MODEL}`,
        `teacher_checkpoint=${paths('sl_basic', 'final', 'sampler_path')}`,
        `load_checkpoint_path=${paths('sl_basic', '000005', 'state_path')}`,
      ],
    }),
    metric: 'teacher_kl',
    hasLearned: (first, last) => first > 0.02 && last < first / 2,
  },
];

/**
 * Runs programs of the Python cookbook, unchanged, against `serve` at its default settings, with the token ids of Qwen3: all must end and learn. They get a
 * model name, data and a tokenizer in local folders, sizes that fit a test, and their own learning rate times a factor.
 */
export async function checkRecipes(): Promise<string[]> {
  const python = await recipesEnvironment();
  const folder = await mkdtemp(join(tmpdir(), 'tinkex-recipes-'));
  try {
    for (const purpose of ['learn', 'warm-up'] as const) await writeRecipeFolder(join(folder, purpose), purpose);
    await using server = await startServeProcess();
    const problems: string[] = [];
    for (const recipe of RECIPES) problems.push(...(await runRecipe(recipe, python, folder, server.variables)));
    return [...problems, ...server.violations.map((violation) => `the server notes: ${violation}`)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runRecipe(
  recipe: Recipe,
  python: PythonEnvironment,
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { name, module, settings, from, metric } = recipe;
  const logPath = join(folder, 'runs', name);
  const records = await checkpointsOf(folder);
  const start = from?.((run, checkpoint, kind) => {
    const path = records.get(`${run}/${checkpoint}`)?.[kind];
    return typeof path === 'string' ? path : `missing checkpoint ${checkpoint} of ${run}`;
  });
  if (start?.record !== undefined) {
    await mkdir(logPath, { recursive: true });
    await writeFile(join(logPath, 'checkpoints.jsonl'), `${JSON.stringify(start.record)}\n`);
  }
  const rate = recipe.learningRate * LEARNING_RATE_FACTOR;
  const args = [model, ...settings, ...(start?.settings ?? []), `learning_rate=${rate}`, `log_path=${logPath}`];
  const environment = {
    ...variables,
    // The libraries keep what they read by the name of the data set alone: a shared cache would give a program the conversations of another.
    HF_HOME: join(folder, recipe.folder, '.cache'),
    HF_HUB_OFFLINE: '1',
    TOKENIZERS_PARALLELISM: 'false',
    TINKER_TELEMETRY: '0',
  };
  const result = await python.run(
    'python',
    ['-m', `tinker_cookbook.${module}`, ...args],
    environment,
    '',
    undefined,
    join(folder, recipe.folder),
  );
  // The SDK sometimes crashes while Python shuts down, after everything is done: the last checkpoint says whether the program came to its end.
  const hasEnded = (result.code === 0 || result.code === null) && (await checkpointsOf(folder)).has(`${name}/final`);
  if (!hasEnded) return [`${name} did not come to its end (exit code ${result.code})\n${result.output.slice(-3_000)}`];
  const values = await metricOf(logPath, metric);
  const [first, last] = [mean(values.slice(0, 3)), mean(values.slice(-3))];
  console.log(`  ${name}: ${metric} ${first.toFixed(3)} -> ${last.toFixed(3)} in ${values.length} steps`);
  return recipe.hasLearned(first, last) ? [] : [`${name} has not learned: ${metric} goes from ${first} to ${last}`];
}

/** The checkpoints of all runs so far, by run and name. */
async function checkpointsOf(folder: string): Promise<Map<string, JsonRecord>> {
  const found = new Map<string, JsonRecord>();
  for (const { name } of RECIPES) {
    for (const record of await recordsIn(join(folder, 'runs', name, 'checkpoints.jsonl')))
      found.set(`${name}/${String(record['name'])}`, record);
  }
  return found;
}

async function metricOf(logPath: string, metric: string): Promise<number[]> {
  const records = await recordsIn(join(logPath, 'metrics.jsonl'));
  return records.map((record) => record[metric]).filter((value) => typeof value === 'number');
}

async function recordsIn(path: string): Promise<JsonRecord[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseLenientJson(line) as JsonRecord);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
