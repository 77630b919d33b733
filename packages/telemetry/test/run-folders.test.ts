import { appendFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { monotonicTime, systemClock } from '@tinkex/http';
import {
  type CheckpointRecord,
  csvSink,
  decodeCheckpointRecord,
  describeConfig,
  encodeCheckpointRecord,
  gaugeSink,
  JsonlReader,
  type JsonRecord,
  jsonlSink,
  lastCheckpoint,
  metricsTable,
  parseLenientJson,
  RunWriter,
  readRun,
  StepTimer,
  stringifyLine,
  tableSink,
  timingMetrics,
  timingRecord,
} from '@tinkex/telemetry/runs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';

interface LoggingCase {
  readonly fn: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly expected: unknown;
}

interface CheckpointCase {
  readonly fn: string;
  readonly input: JsonRecord & { readonly lines?: readonly JsonRecord[]; readonly requiredKey?: string };
  readonly expected: { readonly extra?: JsonRecord; readonly toDict?: JsonRecord; readonly line?: string } | null;
}

const PYTHON_RUNS = fileURLToPath(new URL('./runs/', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tinkex-run-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const textOf = (file: string) => readFile(join(folder, file), 'utf8');
const record = (name: string, fields: Partial<CheckpointRecord> = {}): CheckpointRecord => ({ name, extra: {}, ...fields });

it('replaces a file of records in one step, however often', async () => {
  await using writer = await RunWriter.open(folder);
  for (const steps of [[1, 2], [3]])
    await writer.replace(
      'iteration_000000/train.jsonl',
      steps.map((step) => ({ step })),
    );
  expect(await textOf('iteration_000000/train.jsonl')).toBe('{"step": 3}\n');
});

describe('checkpoint records', () => {
  const cases = readCookbookVectors<CheckpointCase>('checkpoints');

  it.each(cases.filter(({ fn }) => fn === 'record'))('%# is written as the reference writes it', ({ input, expected }) => {
    const decoded = decodeCheckpointRecord(input) as CheckpointRecord;
    expect(decoded.extra).toEqual(expected?.extra);
    expect(JSON.parse(stringifyLine(encodeCheckpointRecord(decoded)))).toEqual(expected?.toDict);
    expect(stringifyLine(encodeCheckpointRecord(decoded))).toBe(expected?.line);
  });

  it.each(cases.filter(({ fn }) => fn === 'last'))('%# the last one is the one the reference takes', ({ input, expected }) => {
    const records = (input.lines ?? []).flatMap((line) => decodeCheckpointRecord(line) ?? []);
    // No record of the vectors has the third key, `rolling`, which is an extra field.
    const kind = input.requiredKey === 'sampler_path' ? 'samplerPath' : 'statePath';
    const last = input.requiredKey === 'rolling' ? records.find(({ extra }) => extra.rolling) : lastCheckpoint(records, kind);
    const written = last === undefined ? null : JSON.parse(stringifyLine(encodeCheckpointRecord(last)));
    expect(written).toEqual(expected);
  });
});

describe('config.json', () => {
  const expected = (name: string) => readCookbookVectors<LoggingCase>('logging').find((entry) => entry.name === name)?.expected;

  class Plain {
    readonly pub = 1;
    readonly _hidden = 2;
    readonly sub = { a: 2, b: 'red' };
  }
  class Empty {}

  it.each([
    ['chz object', { x: 3, y: [1, 'a'] }],
    ['dataclass', { a: 5, b: { k: [1, 2] } }],
    ['enum', 'red'],
    ['plain object: private names left out', new Plain()],
    ['scalars', { i: 1, f: 0.5, n: null, s: 't', b: true }],
    ['a function becomes an empty object: the rule for objects comes before the rule for callables', { f: () => 1 }],
  ])('%s', (name, value) => {
    expect(expected(name)).toBeDefined();
    expect(describeConfig(value)).toEqual(expected(name));
  });

  it('names the class of an object without fields, and does not follow a circle', () => {
    const circle: Record<string, unknown> = { object: new Empty(), map: new Map([['k', 1n]]) };
    circle.self = circle;
    expect(describeConfig(circle)).toEqual({ object: "<class 'Empty'>", map: { k: '1' }, self: '<circular>' });
  });

  it('is replaced in one step and leaves no draft', async () => {
    await using run = await RunWriter.open(folder);
    await run.writeConfig({ lr: 0.1 });
    await run.writeConfig({ lr: 0.2 });
    expect(await textOf('config.json')).toBe('{\n  "lr": 0.2\n}');
    expect(await readdir(folder)).toEqual(['config.json']);
  });
});

describe('metrics.jsonl', () => {
  it('is written as the reference writes it, except that NaN and Infinity are null', async () => {
    const expected = readCookbookVectors<LoggingCase>('logging').find(({ fn }) => fn === 'json_logger')?.expected as JsonRecord;
    await using run = await RunWriter.open(folder);
    await run.appendMetrics({ b: 2, a: 1.5 }, 0);
    await run.appendMetrics({ a: Number.NaN, inf: Number.POSITIVE_INFINITY }, 3);
    await run.appendMetrics({ a: 2 });
    const written = await textOf('metrics.jsonl');
    expect(written).toBe((expected['metrics.jsonl'] as string).replaceAll(/NaN|Infinity/g, 'null'));
    for (const line of written.trimEnd().split('\n')) JSON.parse(line);
  });

  it('of the reference is read with its bare NaN and Infinity', async () => {
    const expected = readCookbookVectors<LoggingCase>('logging').find(({ fn }) => fn === 'json_logger')?.expected as JsonRecord;
    await writeFile(join(folder, 'metrics.jsonl'), expected['metrics.jsonl'] as string);
    const { metrics, problems } = await readRun(folder);
    expect(metrics).toEqual([{ step: 0, b: 2, a: 1.5 }, { step: 3, a: Number.NaN, inf: Number.POSITIVE_INFINITY }, { a: 2 }]);
    expect(problems).toEqual([]);
  });

  it('has a prefix that the reference doubles only once', async () => {
    await writeFile(join(folder, 'metrics.jsonl'), '{"step": 0, "test/test/env/all/reward": 1, "test/test/x": 2, "test/x": 3, "a/a": 4}\n');
    expect((await readRun(folder)).metrics).toEqual([{ step: 0, 'test/env/all/reward': 1, 'test/x': 3, 'a/a': 4 }]);
  });

  it('loses the steps that a resumed run writes again', async () => {
    await using run = await RunWriter.open(folder);
    for (const step of [0, 1, 2, 3]) await run.appendMetrics({ a: step }, step);
    expect(await run.rewindMetrics(2)).toBe(2);
    await run.appendMetrics({ a: 20 }, 2);
    expect((await readRun(folder)).metrics.map(({ a }) => a)).toEqual([0, 1, 20]);
  });
});

describe('a run folder of the reference', () => {
  it('of supervised training is read', async () => {
    const run = await readRun(join(PYTHON_RUNS, 'sft-python'));
    expect(run.config).toMatchObject({ model_name: 'tinkex/tiny', num_epochs: 5, submit_ahead: 1 });
    expect(run.metrics).toHaveLength(20);
    expect(run.metrics[0]).toMatchObject({ step: 0, train_mean_nll: 5.027871131896973 });
    expect(run.checkpoints.map(({ name, batch, epoch, extra }) => ({ name, batch, epoch, ...extra }))).toEqual([
      { name: '000010', batch: 2, epoch: 2, elapsed_tokens: 1672 },
      { name: 'final', batch: 0, epoch: 5, elapsed_tokens: 3040 },
    ]);
    expect(run.problems).toEqual([]);
  });

  it('of reinforcement learning is read, rollouts included', async () => {
    const run = await readRun(join(PYTHON_RUNS, 'rl-python'));
    expect(run.metrics).toHaveLength(8);
    expect(lastCheckpoint(run.checkpoints)).toMatchObject({ name: 'final', batch: 8 });
    const rollouts = await new JsonlReader(join(run.path, 'iteration_000000/train_rollout_summaries.jsonl')).readToEnd();
    expect(rollouts.records[0]).toMatchObject({ schema_version: 1, split: 'train', tags: ['problems'] });
  });

  it('that does not exist is empty', async () => {
    expect(await readRun(join(folder, 'none'))).toMatchObject({ config: undefined, metrics: [], checkpoints: [], problems: [] });
  });

  it('with broken files is read as far as possible, and each problem has its file and line', async () => {
    await writeFile(join(folder, 'metrics.jsonl'), '{"step": 0}\n\nnot json\n[1]\n{"step": 4}\n');
    await writeFile(join(folder, 'checkpoints.jsonl'), '{"no": "name"}\n{"name": "a"}\n');
    await writeFile(join(folder, 'config.json'), '{"a": ');
    const run = await readRun(folder);
    expect(run.metrics).toEqual([{ step: 0 }, { step: 4 }]);
    expect(run.checkpoints.map(({ name }) => name)).toEqual(['a']);
    expect(run.problems.map(({ file, line }) => [file.slice(folder.length + 1), line])).toEqual([
      ['metrics.jsonl', 3],
      ['metrics.jsonl', 4],
      ['config.json', 1],
    ]);
    await writeFile(join(folder, 'config.json'), '[]');
    expect((await readRun(folder)).problems.at(-1)?.message).toBe('The file is not a JSON object.');
  });
});

describe('a file after a crash', () => {
  it('is read without its half-written last line, wherever the crash happened', async () => {
    const lines = '{"name": "a", "state_path": "s"}\n{"name": "b}", "state_path": "t"}\n';
    const first = lines.indexOf('\n');
    for (let length = 0; length <= lines.length; length++) {
      await writeFile(join(folder, 'checkpoints.jsonl'), lines.slice(0, length));
      const { checkpoints, problems } = await readRun(folder);
      expect(problems).toEqual([]);
      expect(checkpoints.map(({ name }) => name)).toEqual(
        ['a', 'b}'].filter((_, index) => length >= (index === 0 ? first : lines.length - 1)),
      );
    }
  });

  it('takes new lines after the half-written one is removed, wherever the crash happened', async () => {
    const path = join(folder, 'checkpoints.jsonl');
    const whole = `${stringifyLine(encodeCheckpointRecord(record('a', { statePath: 's' })))}\n`;
    for (let length = 0; length <= whole.length; length++) {
      await writeFile(path, whole + whole);
      await truncate(path, whole.length + length);
      await using run = await RunWriter.open(folder);
      await run.appendCheckpoint(record('b'));
      await run.close();
      const names = (await readRun(folder)).checkpoints.map(({ name }) => name);
      expect(names).toEqual(length < whole.length - 1 ? ['a', 'b'] : ['a', 'a', 'b']);
    }
  });
});

describe('a growing file', () => {
  it('is read piece by piece, whole lines only', async () => {
    const path = join(folder, 'x.jsonl');
    const reader = new JsonlReader(path);
    const seen: unknown[] = [];
    for (const piece of ['', '{"a": 1}\n{"a"', ': 2}', '\n', 'broken\n{"a": "ü"}\n']) {
      await appendFile(path, piece);
      const { records, problems } = await reader.read();
      seen.push([records.map(({ a }) => a), problems.map(({ line }) => line)]);
    }
    expect(seen).toEqual([
      [[], []],
      [[1], []],
      [[], []],
      [[2], []],
      [['ü'], [3]],
    ]);
  });
});

describe('JSON with numbers of Python', () => {
  const leaf = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.constantFrom('NaN', '-Infinity', '"NaN'));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(leaf, fc.array(tie('tree')), fc.dictionary(fc.string(), tie('tree'))),
  }));

  it('is read as it was written', () => {
    fc.assert(
      fc.property(tree, (value) => {
        expect(normalize(parseLenientJson(pythonDumps(value)))).toEqual(normalize(value));
      }),
    );
  });

  it('is written so that every parser reads it, in ASCII', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const line = stringifyLine(value as never);
        expect(line).toMatch(/^[\x20-\x7e]*$/);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('refuses what is not JSON', () => {
    expect(() => parseLenientJson('{"a": Nan}')).toThrow(SyntaxError);
    expect(() => parseLenientJson('{"a": NaN')).toThrow(SyntaxError);
  });

  function pythonDumps(value: unknown): string {
    if (typeof value === 'number') return Object.is(value, -0) ? '-0.0' : String(value);
    if (Array.isArray(value)) return `[${value.map(pythonDumps).join(', ')}]`;
    if (typeof value === 'object' && value !== null)
      return `{${Object.entries(value)
        .map(([key, field]) => `${JSON.stringify(key)}: ${pythonDumps(field)}`)
        .join(', ')}}`;
    return JSON.stringify(value);
  }

  function normalize(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value, (_key, field: unknown) => (typeof field === 'number' ? `number:${field}` : field)));
  }
});

describe('timings', () => {
  const { input, expected } = readCookbookVectors<LoggingCase>('logging').find(({ fn }) => fn === 'timing_metrics') as LoggingCase;
  const spans = (input as [string, number, number][]).map(([name, startSeconds, endSeconds]) => ({ name, startSeconds, endSeconds }));

  it('have the metrics and the lines of the reference', () => {
    const { metrics, spans: lines } = expected as { metrics: JsonRecord; spans: JsonRecord[] };
    expect(timingMetrics(spans, 4)).toEqual(metrics);
    expect(timingRecord(7, spans)).toEqual({ step: 7, spans: lines });
  });

  it('cover work that fails', async () => {
    let nowMs = 1_000;
    const timer = new StepTimer({ ...systemClock, monotonicMs: () => monotonicTime(nowMs) });
    const failing = timer.measure('a', () => {
      nowMs += 500;
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    nowMs += 250;
    expect(timer.metrics()).toEqual({ 'time/a': 0.5, 'time/total': 0.75 });
  });
});

describe('sinks', () => {
  it('the table is sorted, has six decimals and hides totals and counts', async () => {
    const table = metricsTable({ b: 0.5, 'a:total': 1, 'a:count': 2, 'a:mean': 3, nan: Number.NaN }, 4);
    expect(table).toBe('step 4\n  a:mean         3\n  b       0.500000\n  nan          NaN\n');
    const written: string[] = [];
    await tableSink({ write: (text) => written.push(text) }).logMetrics({ a: 1 }, 0);
    expect(written).toEqual(['step 0\n  a  1\n']);
  });

  it('CSV gets new columns, and a repeated step replaces the old row', async () => {
    const path = join(folder, 'metrics.csv');
    await csvSink(path).logMetrics({ loss: 2, 'a,"b"': 1 }, 0);
    const resumed = csvSink(path);
    await resumed.logMetrics({ loss: Number.NaN, late: 7 }, 1);
    await resumed.logMetrics({ loss: 1.5 }, 1);
    expect(await textOf('metrics.csv')).toBe('step,loss,"a,""b""",late\n0,2,1,\n1,1.5,,\n');
  });

  it('JSONL has the lines of metrics.jsonl', async () => {
    const sink = jsonlSink(join(folder, 'copy.jsonl'));
    await sink.logMetrics({ a: Number.NaN }, 1);
    await sink.close?.();
    expect(await textOf('copy.jsonl')).toBe('{"step": 1, "a": null}\n');
  });

  it('gauges are created once and get finite values only', async () => {
    const recorded: unknown[] = [];
    const created: string[] = [];
    const createGauge = (name: string) => {
      created.push(name);
      return { record: (value: number, attributes?: object) => recorded.push([name, value, attributes]) };
    };
    const sink = gaugeSink({ createGauge }, { attributes: { run: 'r' } });
    await sink.logMetrics({ 'test/nll': 1, 'grad_norm:mean': Number.NaN }, 0);
    await sink.logMetrics({ 'test/nll': 2 }, 1);
    expect(created).toEqual(['tinkex.run.test.nll']);
    expect(recorded).toEqual([
      ['tinkex.run.test.nll', 1, { run: 'r' }],
      ['tinkex.run.test.nll', 2, { run: 'r' }],
    ]);
  });
});
