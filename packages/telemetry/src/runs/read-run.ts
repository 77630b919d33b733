import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CheckpointRecord, decodeCheckpointRecord } from './checkpoint-record.js';
import { JsonlReader, type LineProblem } from './jsonl-reader.js';
import { isJsonRecord, type JsonRecord, parseLenientJson } from './run-json.js';
import { RUN_FILES } from './run-writer.js';

/** What a run folder holds. */
export interface RunFolder {
  readonly path: string;
  /** `config.json`; undefined if there is none. */
  readonly config: JsonRecord | undefined;
  /** `metrics.jsonl` in the order of the file. Numbers that are not finite are `NaN` and `Infinity` in folders of the reference, `null` in ours. */
  readonly metrics: readonly JsonRecord[];
  /** `checkpoints.jsonl` in the order of the file. Rolling checkpoints stay listed after they were deleted. */
  readonly checkpoints: readonly CheckpointRecord[];
  /** Lines that cannot be read. A last line that a crash left incomplete is not one of them: it is ignored. */
  readonly problems: readonly LineProblem[];
}

/**
 * Reads a run folder of this package or of the Python reference, also while it is being written. Missing files are empty. A prefix that the reference writes
 * twice (`test/test/env/…`) is read as one.
 */
export async function readRun(path: string): Promise<RunFolder> {
  const problems: LineProblem[] = [];
  const metrics = await new JsonlReader(join(path, RUN_FILES.metrics)).readToEnd();
  const checkpoints = await new JsonlReader(join(path, RUN_FILES.checkpoints)).readToEnd();
  problems.push(...metrics.problems, ...checkpoints.problems);
  return {
    path,
    config: await readConfig(join(path, RUN_FILES.config), problems),
    metrics: metrics.records.map(withSinglePrefixes),
    checkpoints: checkpoints.records.flatMap((record) => decodeCheckpointRecord(record) ?? []),
    problems,
  };
}

async function readConfig(path: string, problems: LineProblem[]): Promise<JsonRecord | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const config = parseLenientJson(text);
    if (isJsonRecord(config)) return config;
    problems.push({ file: path, line: 1, message: 'The file is not a JSON object.' });
  } catch (error) {
    problems.push({ file: path, line: 1, message: `The file is not JSON: ${(error as Error).message}` });
  }
  return undefined;
}

/** A record in which a prefix that the reference writes twice (`test/test/env/…`) stands once. */
export function withSinglePrefixes(record: JsonRecord): JsonRecord {
  const entries = Object.entries(record);
  if (!entries.some(([name]) => singlePrefix(name) !== name)) return record;
  // A name that is written with a single prefix wins.
  return { ...Object.fromEntries(entries.map(([name, value]) => [singlePrefix(name), value])), ...pickUnchanged(record) };
}

function pickUnchanged(record: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => singlePrefix(name) === name));
}

function singlePrefix(name: string): string {
  const [first, second, ...rest] = name.split('/');
  return first === second && rest.length > 0 ? [first, ...rest].join('/') : name;
}
