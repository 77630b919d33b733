import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CheckpointRecord, encodeCheckpointRecord } from './checkpoint-record.js';
import { describeConfig } from './describe-config.js';
import { JsonlAppender } from './jsonl-appender.js';
import { JsonlReader } from './jsonl-reader.js';
import type { Metrics } from './metrics-sink.js';
import { type JsonRecord, stringifyLine } from './run-json.js';

/** The files of a run folder, by the names that the reference gives them. */
export const RUN_FILES = {
  config: 'config.json',
  metrics: 'metrics.jsonl',
  checkpoints: 'checkpoints.jsonl',
  timingSpans: 'timing_spans.jsonl',
} as const;

/** Options of {@link RunWriter.open}. */
export interface RunWriterOptions {
  /**
   * Which lines are on the disk before the call returns, and survive a power failure: `checkpoints` (default), or `all`. Every line survives a crash of the
   * process either way.
   */
  readonly durable?: 'checkpoints' | 'all' | undefined;
}

/**
 * Writes a run folder in the reference's format. Crash-safe: files are replaced in one step or appended line by line, and a line that a crash left
 * incomplete is removed when the folder is opened again. Only one process may write a folder.
 */
export class RunWriter implements AsyncDisposable {
  readonly path: string;
  readonly #isAllDurable: boolean;
  readonly #appenders = new Map<string, Promise<JsonlAppender>>();

  private constructor(path: string, { durable = 'checkpoints' }: RunWriterOptions) {
    this.path = path;
    this.#isAllDurable = durable === 'all';
  }

  /** Creates the folder if it does not exist. */
  static async open(path: string, options: RunWriterOptions = {}): Promise<RunWriter> {
    await mkdir(path, { recursive: true });
    return new RunWriter(path, options);
  }

  /** Replaces `config.json`. See {@link describeConfig} for what becomes of functions and objects. */
  async writeConfig(config: object): Promise<void> {
    await replaceFile(join(this.path, RUN_FILES.config), JSON.stringify(describeConfig(config), undefined, 2));
  }

  /** Adds a record to `metrics.jsonl`. A value that is not finite becomes `null`. */
  async appendMetrics(metrics: Metrics, step?: number): Promise<void> {
    await this.append(RUN_FILES.metrics, step === undefined ? metrics : { step, ...metrics });
  }

  /** Adds a record to `checkpoints.jsonl`. Call it when the checkpoint exists. It is on the disk when the call returns. */
  async appendCheckpoint(record: CheckpointRecord): Promise<void> {
    await (await this.#appender(RUN_FILES.checkpoints)).append(encodeCheckpointRecord(record), { isDurable: true });
  }

  /** Adds a record to another JSONL file of the folder, such as rollouts. Creates the folders in its name. */
  async append(file: string, record: JsonRecord): Promise<void> {
    await (await this.#appender(file)).append(record, { isDurable: this.#isAllDurable });
  }

  /** Replaces a JSONL file of the folder in one step, such as the rollouts of an iteration. Creates the folders in its name. */
  async replace(file: string, records: readonly JsonRecord[]): Promise<void> {
    await this.#closeAppender(file);
    await this.replaceText(file, records.map((record) => `${stringifyLine(record)}\n`).join(''));
  }

  /** Replaces another file of the folder in one step, such as a report. Creates the folders in its name. */
  async replaceText(file: string, text: string): Promise<void> {
    const path = join(this.path, file);
    await mkdir(dirname(path), { recursive: true });
    await replaceFile(path, text);
  }

  /**
   * Removes the records of `metrics.jsonl` from this step on: a resumed run writes them again. The file is replaced in one step.
   *
   * @returns How many records were removed.
   */
  async rewindMetrics(step: number): Promise<number> {
    const path = join(this.path, RUN_FILES.metrics);
    const { records } = await new JsonlReader(path).readToEnd();
    const kept = records.filter((record) => typeof record.step !== 'number' || record.step < step);
    if (kept.length < records.length) {
      await this.#closeAppender(RUN_FILES.metrics);
      await replaceFile(path, kept.map((record) => `${stringifyLine(record)}\n`).join(''));
    }
    return records.length - kept.length;
  }

  /** Waits for the lines before, and closes the files. */
  async close(): Promise<void> {
    await Promise.all([...this.#appenders.keys()].map((file) => this.#closeAppender(file)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #appender(file: string): Promise<JsonlAppender> {
    let appender = this.#appenders.get(file);
    if (appender === undefined) {
      appender = openIn(join(this.path, file));
      this.#appenders.set(file, appender);
      // The next line tries to open the file again.
      appender.catch(() => this.#appenders.delete(file));
    }
    return appender;
  }

  async #closeAppender(file: string): Promise<void> {
    const appender = this.#appenders.get(file);
    this.#appenders.delete(file);
    await (await appender)?.close();
  }
}

async function openIn(path: string): Promise<JsonlAppender> {
  await mkdir(join(path, '..'), { recursive: true });
  return JsonlAppender.open(path);
}

/** Writes beside the file, then renames: a reader sees the old content or the new one. */
async function replaceFile(path: string, content: string): Promise<void> {
  const draft = `${path}.tmp`;
  const file = await open(draft, 'w');
  try {
    await file.writeFile(content);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}
