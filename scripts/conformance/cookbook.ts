import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { recordingOf } from '../../packages/clients/test/support/conformance-recording.js';
import { exportPeft, mergeAdapter, writeSafetensors } from '../../packages/cookbook/src/index.js';
import { type JsonRecord, parseLenientJson, tensorboardSink } from '../../packages/telemetry/src/runs/index.js';
import { startServer, type TestServer } from '../../packages/testkit/src/index.js';
import { root } from '../packages.mjs';
import { type LoopSettings, trainOwn, writeData } from './cookbook-loops.js';
import { cookbookEnvironment, type PythonEnvironment } from './python-environments.js';

const LOOPS_PROGRAM = join(root, 'scripts/conformance/cookbook_loops.py');
const FILES_PROGRAM = join(root, 'scripts/conformance/cookbook_files.py');
const TOLERANCE = 1e-6;
/** Of loops whose numbers torch adds up in single precision. */
const SINGLE_PRECISION = 5e-6;
/** Written once per process, or with the time in it. */
const NOT_COMPARED = /^(time\/|batch_time$|tokens_per_second$)/;
/** We evaluate and count what the reference leaves out; what it writes, we write too. */
const DEFAULTS: Omit<LoopSettings, 'loop' | 'file'> = {
  learning_rate: 0.02,
  lr_schedule: 'linear',
  batch_size: 4,
  test_size: 3,
  num_epochs: 4,
  eval_every: 5,
  save_every: 0,
  batches: 8,
  // One prompt per batch: then the samples of a batch do not depend on the order in which calls arrive.
  groups_per_batch: 1,
  group_size: 8,
  turns: 1,
  max_tokens: 6,
  loss_fn: 'importance_sampling',
  kl_penalty_coef: 0,
};

/**
 * Compares the training loops with those of the Python cookbook, number by number and datum by datum, each on a separate server with the same seed; lets
 * each language continue a run of the other; and opens exported adapters, merged models and event files with the libraries that they are for.
 */
export async function checkCookbook(): Promise<string[]> {
  const python = await cookbookEnvironment();
  const folder = await mkdtemp(join(tmpdir(), 'tinkex-conformance-'));
  try {
    const { conversations, comparisons } = await writeData(folder);
    const loops: [string, LoopSettings][] = [
      ['sft', { ...DEFAULTS, loop: 'sft', file: conversations }],
      ['rl', { ...DEFAULTS, loop: 'rl', file: '', num_epochs: 1, eval_every: 0, kl_penalty_coef: 0.05 }],
      ['dpo', { ...DEFAULTS, loop: 'dpo', file: comparisons, eval_every: 0, num_epochs: 5, batch_size: 4 }],
    ];
    const problems: string[] = [];
    for (const [name, settings] of loops) problems.push(...prefixed(name, await compareLoop(python, join(folder, name), settings)));
    problems.push(...prefixed('resume', await compareResumes(python, folder, { ...DEFAULTS, loop: 'sft', file: conversations })));
    problems.push(...prefixed('weights', await checkWeights(python, folder)));
    problems.push(...prefixed('tensorboard', await checkEvents(python, folder)));
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const prefixed = (name: string, problems: readonly string[]): string[] => problems.map((problem) => `cookbook, ${name}: ${problem}`);

async function compareLoop(python: PythonEnvironment, folder: string, settings: LoopSettings): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  await using theirs = await startServer();
  await using ours = await startServer();
  await trainInPython(python, theirs, join(folder, 'python'), settings);
  await trainOwn(ours, join(folder, 'typescript'), settings);
  const [expected, actual] = [await metricsOf(join(folder, 'python')), await metricsOf(join(folder, 'typescript'))];
  const numbers = compareMetrics(expected, actual, settings.loop === 'sft' ? TOLERANCE : SINGLE_PRECISION);
  const [theirData, ourData] = [dataSent(theirs, settings), dataSent(ours, settings)];
  const data = firstDifference(theirData, ourData, 'passes').map((difference) => `the data sent differs: ${difference}`);
  console.log(`  ${settings.loop}: ${expected.length} steps, ${numbers.compared} numbers, ${theirData.length} passes compared`);
  return [...numbers.problems, ...data];
}

/** A run that one language begins and the other finishes ends as one that was never interrupted. */
async function compareResumes(python: PythonEnvironment, folder: string, settings: LoopSettings): Promise<string[]> {
  const whole = { ...settings, lr_schedule: 'constant', eval_every: 0, save_every: 4 } as const;
  const half = { ...whole, max_steps: 9 };
  await using server = await startServer();
  const path = (name: string): string => join(folder, name);
  await trainOwn(server, path('whole'), whole);
  const expected = lastNll(await metricsOf(path('whole')));
  await trainOwn(server, path('begun-here'), half);
  await trainInPython(python, server, path('begun-here'), whole);
  // The reference does not continue a run that max_steps ended; one that was killed has no final record.
  await trainInPython(python, server, path('begun-there'), half);
  await dropFinalRecord(path('begun-there'));
  await trainOwn(server, path('begun-there'), whole);
  const problems: string[] = [];
  for (const name of ['begun-here', 'begun-there']) {
    const records = await metricsOf(path(name));
    const found = lastNll(records);
    if (Math.abs(found - expected) > TOLERANCE) problems.push(`${name} ends at ${found} instead of ${expected}`);
    console.log(`  resume: ${name} has ${records.length} records and ends at ${found}`);
  }
  return problems;
}

async function checkWeights(python: PythonEnvironment, folder: string): Promise<string[]> {
  const base = join(folder, 'base');
  const { layers } = (await printedBy(python, [FILES_PROGRAM, 'base', base])) as { layers: Record<string, [number, number]> };
  const adapter = join(folder, 'adapter');
  await mkdir(adapter);
  await writeFile(join(adapter, 'adapter_config.json'), JSON.stringify({ r: 4, lora_alpha: 16 }));
  const tensors = Object.entries(layers).flatMap(([name, [outputs, inputs]], index) => {
    const path = `base_model.model.${name === 'lm_head' ? 'model.unembed_tokens' : name}`;
    return [randomTensor(`${path}.lora_A.weight`, [4, inputs], index), randomTensor(`${path}.lora_B.weight`, [outputs, 4], index + 100)];
  });
  await writeSafetensors(join(adapter, 'adapter_model.safetensors'), tensors);
  await exportPeft(adapter, join(folder, 'peft'), { base, baseModel: base });
  await mergeAdapter(adapter, join(folder, 'merged'), { base });
  const found = await printedBy(python, [FILES_PROGRAM, 'adapter', base, join(folder, 'peft'), join(folder, 'merged')]);
  const { before, peft, merged, used } = found as Record<'before' | 'peft' | 'merged', number[]> & { used: number };
  const largest = (a: readonly number[], b: readonly number[]): number =>
    Math.max(...a.map((value, index) => Math.abs(value - (b[index] as number))));
  console.log(`  weights: ${used} tensors loaded by peft; adapter and merged model differ by ${largest(peft, merged).toExponential(1)}`);
  const problems = used === tensors.length ? [] : [`peft uses ${used} of ${tensors.length} tensors`];
  if (!(largest(before, peft) > 0.01)) problems.push('the adapter changes nothing');
  if (!(largest(peft, merged) < 1e-4)) problems.push(`peft and the merged model differ by ${largest(peft, merged)}`);
  return problems;
}

async function checkEvents(python: PythonEnvironment, folder: string): Promise<string[]> {
  const directory = join(folder, 'events');
  const sink = tensorboardSink(directory);
  for (let step = 0; step < 5; step++) await sink.logMetrics({ 'train/nll': 1 / (step + 1), 'optim/lr': 0.5 }, step);
  await sink.close?.();
  const expected = {
    'train/nll': [0, 1, 2, 3, 4].map((step) => [step, Math.fround(1 / (step + 1))]),
    'optim/lr': [0, 1, 2, 3, 4].map((step) => [step, 0.5]),
  };
  const found = await printedBy(python, [FILES_PROGRAM, 'events', directory]);
  return isDeepStrictEqual(found, expected) ? [] : [`TensorBoard reads ${JSON.stringify(found)}`];
}

async function trainInPython(python: PythonEnvironment, server: TestServer, logPath: string, settings: LoopSettings): Promise<void> {
  const argument = JSON.stringify({ ...settings, log_path: logPath, base_url: server.url });
  await printedBy(python, [LOOPS_PROGRAM, argument], { TINKER_API_KEY: server.apiKey, TINKER_BASE_URL: server.url, TINKER_TELEMETRY: '0' });
}

async function printedBy(python: PythonEnvironment, args: readonly string[], variables: Record<string, string> = {}): Promise<unknown> {
  const { code, stdout, output } = await python.run('python', args, { ...variables, HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false' });
  const printed = stdout.trim().split('\n').at(-1) ?? '';
  if (printed.startsWith('{')) return JSON.parse(printed) as unknown;
  throw new Error(`${args.slice(0, 2).join(' ').slice(0, 200)} failed (exit code ${code})\n${output.slice(-4_000)}`);
}

async function metricsOf(folder: string): Promise<JsonRecord[]> {
  const text = await readFile(join(folder, 'metrics.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => parseLenientJson(line) as JsonRecord);
}

/** Every number that the reference writes must be there, and be the same. */
function compareMetrics(
  expected: readonly JsonRecord[],
  actual: readonly JsonRecord[],
  tolerance: number,
): { readonly compared: number; readonly problems: string[] } {
  const problems = expected.length === actual.length ? [] : [`${expected.length} records in Python, ${actual.length} here`];
  let compared = 0;
  expected.forEach((record, index) => {
    for (const [name, value] of Object.entries(record)) {
      if (NOT_COMPARED.test(name) || typeof value !== 'number') continue;
      compared++;
      const own = actual[index]?.[name];
      const isEqual = typeof own === 'number' ? Math.abs(own - value) <= tolerance * Math.max(1, Math.abs(value)) : Number.isNaN(value);
      if (!isEqual) problems.push(`step ${record['step']}: ${name} is ${value} in Python and ${String(own)} here`);
    }
  });
  return { compared, problems: problems.slice(0, 20) };
}

function lastNll(records: readonly JsonRecord[]): number {
  return Number(records.at(-1)?.['train_mean_nll']);
}

/**
 * The data of all passes in the order of their sequence IDs. Of custom losses every second pass: the others have gradients, which are computed in single
 * precision there. Of reinforcement learning none: the order of a group's episodes is that in which calls arrive.
 */
function dataSent(server: TestServer, { loop }: LoopSettings): unknown[] {
  return recordingOf(server.calls)
    .filter(({ route }) => route === 'forwardBackward' && loop !== 'rl')
    .map(({ body }) => body as { seq_id?: number; forward_backward_input?: unknown })
    .sort((a, b) => (a.seq_id ?? 0) - (b.seq_id ?? 0))
    .map(({ forward_backward_input: input }) => joinChunks(input))
    .filter((_, index) => loop !== 'dpo' || index % 2 === 0);
}

/** The reference sends a chunk for each part of a message, we send one: the tokens count. */
function joinChunks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(joinChunks);
  if (typeof value !== 'object' || value === null) return value;
  const { chunks } = value as { chunks?: { tokens: number[] }[] };
  if (chunks !== undefined) return { tokens: chunks.flatMap(({ tokens }) => tokens) };
  return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, joinChunks(own)]));
}

/** Where two values differ first; nothing if they are equal. */
function firstDifference(a: unknown, b: unknown, path: string): string[] {
  if (isDeepStrictEqual(a, b)) return [];
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return [`${path} is ${String(a)} in Python and ${String(b)} here`];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of names) {
    const found = firstDifference(Reflect.get(a, name), Reflect.get(b, name), `${path}.${name}`);
    if (found.length > 0) return found;
  }
  return [`${path} differs`];
}

async function dropFinalRecord(folder: string): Promise<void> {
  const path = join(folder, 'checkpoints.jsonl');
  await cp(path, `${path}.all`);
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  await writeFile(path, `${lines.filter((line) => !line.includes('"name": "final"')).join('\n')}\n`);
}

function randomTensor(name: string, shape: [number, number], seed: number) {
  let state = seed * 2_654_435_761 + 1;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  const values = Float32Array.from({ length: shape[0] * shape[1] }, next);
  return { name, dtype: 'F32', shape, bytes: async () => new Uint8Array(values.buffer) };
}
