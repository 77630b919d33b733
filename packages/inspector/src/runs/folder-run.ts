import { readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import {
  type CheckpointRecord,
  decodeCheckpointRecord,
  type JsonRecord,
  type LineProblem,
  parseLenientJson,
  RUN_FILES,
  withSinglePrefixes,
} from '@tinkex/telemetry/runs';
import type { ExampleView, ProtocolReading, RolloutsView, Span, Timeline } from '../api/activity-views.js';
import type { RunDetail, RunSummary } from '../api/run-views.js';
import { GrowingFile } from '../metrics/growing-file.js';
import { MetricTable } from '../metrics/metric-table.js';
import { RecordedEvents } from '../record/recorded-events.js';
import { EVENTS_FOLDER } from '../record/recorder.js';
import { checkpointView, modelOf, stepMsOf, totalStepsOf } from './folder-facts.js';
import type { InspectedRun } from './inspected-run.js';
import { metricList, protocolOf, timelineOf } from './recorded-run.js';
import { type Iteration, listIterations, readRollouts } from './rollout-files.js';
import { runState } from './run-state.js';
import { timingSpans } from './timing-spans.js';

const MAX_PROBLEMS = 100;
const MAX_TIMED_STEPS = 200;
/** The file in which the cookbook keeps what a run has spent. */
const SPENDING_FILE = 'spending.jsonl';

/** A run folder of this project or of the Python reference, finished or still growing. */
export class FolderRun implements InspectedRun {
  readonly id: string;
  readonly path: string;
  readonly events: RecordedEvents;
  readonly #name: string;
  readonly #metricsFile: GrowingFile;
  readonly #checkpointsFile: GrowingFile;
  readonly #spendingFile: GrowingFile;
  readonly #timingFile: GrowingFile;
  #metrics = new MetricTable();
  #config: JsonRecord | undefined;
  #configReadMs = 0;
  #checkpoints: CheckpointRecord[] = [];
  #timedSteps: JsonRecord[] = [];
  #spans: readonly Span[] = [];
  #iterations: readonly Iteration[] = [];
  #spentUsd: number | undefined;
  #problems: LineProblem[] = [];
  #revision = 0;

  constructor(id: string, path: string, name: string = basename(path)) {
    this.id = id;
    this.path = path;
    this.#name = name;
    this.#metricsFile = new GrowingFile(join(path, RUN_FILES.metrics));
    this.#checkpointsFile = new GrowingFile(join(path, RUN_FILES.checkpoints));
    this.#spendingFile = new GrowingFile(join(path, SPENDING_FILE));
    this.#timingFile = new GrowingFile(join(path, RUN_FILES.timingSpans));
    this.events = new RecordedEvents(join(path, EVENTS_FOLDER));
  }

  get metrics(): MetricTable {
    return this.#metrics;
  }

  /** Whether the folder has metrics, checkpoints or a configuration, and not only a recording. */
  get hasOwnFiles(): boolean {
    return this.#metrics.records > 0 || this.#checkpoints.length > 0 || this.#config !== undefined;
  }

  /** Reads what is new. */
  async refresh(): Promise<void> {
    await this.#readConfig();
    const metrics = await this.#metricsFile.read();
    if (metrics.isReplaced) this.#metrics = new MetricTable();
    for (const record of metrics.records) this.#metrics.add(withSinglePrefixes(record));
    const checkpoints = await this.#checkpointsFile.read();
    if (checkpoints.isReplaced) this.#checkpoints = [];
    this.#checkpoints.push(...checkpoints.records.flatMap((record) => decodeCheckpointRecord(record) ?? []));
    await this.#readSpending();
    await this.#readTimes();
    this.#note([...metrics.problems, ...checkpoints.problems]);
    if (metrics.records.length + checkpoints.records.length > 0 || metrics.isReplaced) {
      this.#revision += 1;
      this.#iterations = await listIterations(this.path);
    }
    await this.events.refresh();
  }

  summary(nowMs: number): RunSummary {
    const { steps } = this.#metrics;
    const { recording } = this.events;
    const totalSteps = totalStepsOf(this.#metrics);
    const budget = this.#config?.['max_cost_usd'];
    return {
      id: this.id,
      name: this.#name,
      source: 'folder',
      ...modelOf(this.#config),
      state: runState({
        steps,
        totalSteps,
        isFinal: this.#checkpoints.some(({ final, name }) => final === true || name === 'final'),
        updatedAtMs: this.#updatedAtMs,
        stepMs: stepMsOf(this.#metrics),
        nowMs,
      }),
      steps,
      totalSteps,
      startedAtMs: recording.begin?.atMs,
      updatedAtMs: this.#updatedAtMs,
      headline: this.#metrics.headline(),
      costUsd: this.#spentUsd ?? recording.costUsd,
      budgetUsd: typeof budget === 'number' ? budget : undefined,
      revision: this.#revision + recording.revision,
      problems: this.#problems.length + this.events.problems.length,
      has: {
        events: recording.revision > 0,
        timeline: this.#spans.length > 0 || recording.spans.total > 0,
        rollouts: this.#iterations.length > 0,
        examples: recording.examples.total > 0,
      },
      now: recording.now,
    };
  }

  detail(): RunDetail {
    return {
      id: this.id,
      path: this.path,
      config: this.#config,
      metrics: metricList(this.#metrics),
      checkpoints: this.#checkpoints.map((record) => checkpointView(record, this.#config)),
      iterations: this.#iterations,
      problems: [...this.#problems, ...this.events.problems].map((problem) => ({ ...problem, file: relative(this.path, problem.file) })),
    };
  }

  timeline(after: number): Timeline {
    const { recording } = this.events;
    if (recording.spans.total > 0) return timelineOf(recording, after);
    return { spans: this.#spans.slice(after), dropped: 0, next: this.#spans.length };
  }

  protocol(): ProtocolReading | undefined {
    return this.events.recording.revision > 0 ? protocolOf(this.events.recording) : undefined;
  }

  examples(): readonly ExampleView[] {
    return this.events.recording.examples.items;
  }

  async rollouts(iteration: number, split: string, hasContent: boolean): Promise<RolloutsView | undefined> {
    const found = this.#iterations.find((one) => one.iteration === iteration && one.split === split);
    return found === undefined ? undefined : readRollouts(this.path, found, hasContent);
  }

  get #updatedAtMs(): number | undefined {
    const times = [this.#metricsFile.modifiedAtMs, this.#checkpointsFile.modifiedAtMs, this.events.recording.updatedAtMs];
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  }

  async #readConfig(): Promise<void> {
    const path = join(this.path, RUN_FILES.config);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || found.mtimeMs === this.#configReadMs) return;
    this.#configReadMs = found.mtimeMs;
    try {
      this.#config = parseLenientJson(await readFile(path, 'utf8')) as JsonRecord;
      this.#revision += 1;
    } catch (error) {
      this.#note([{ file: path, line: 1, message: `The file is not JSON: ${(error as Error).message}` }]);
    }
  }

  async #readSpending(): Promise<void> {
    const { records, isReplaced } = await this.#spendingFile.read();
    if (isReplaced) this.#spentUsd = undefined;
    for (const { usd } of records) this.#spentUsd = (this.#spentUsd ?? 0) + (typeof usd === 'number' ? usd : 0);
  }

  async #readTimes(): Promise<void> {
    const { records, isReplaced } = await this.#timingFile.read();
    if (records.length === 0) return;
    this.#timedSteps = [...(isReplaced ? [] : this.#timedSteps), ...records].slice(-MAX_TIMED_STEPS);
    this.#spans = timingSpans(this.#timedSteps);
  }

  #note(problems: readonly LineProblem[]): void {
    this.#problems.push(...problems.slice(0, MAX_PROBLEMS - this.#problems.length));
  }
}
