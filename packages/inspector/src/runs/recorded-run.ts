import type { BrokenRule, ExampleView, ProtocolReading, RolloutsView, Timeline } from '../api/activity-views.js';
import type { RunDetail, RunSummary } from '../api/run-views.js';
import { MetricTable } from '../metrics/metric-table.js';
import type { ModelRecording, Recording } from '../record/recording.js';
import type { InspectedRun } from './inspected-run.js';
import { runState } from './run-state.js';

/** What a test server says about the requests it got. */
export interface ProtocolSource {
  readonly violations: readonly BrokenRule[];
  readonly notices?: readonly { readonly detail: string }[] | undefined;
}

/** Options of a {@link RecordedRun}. */
export interface RecordedRunOptions {
  readonly id: string;
  readonly name: string;
  readonly source: 'live' | 'folder';
  readonly recording: Recording;
  /** Undefined for a program that trains no model. */
  readonly model: ModelRecording | undefined;
  readonly protocol?: ProtocolSource | undefined;
  readonly path?: string | undefined;
}

/** One model of a recorded program. */
export class RecordedRun implements InspectedRun {
  readonly id: string;
  readonly metrics: MetricTable;
  readonly #options: RecordedRunOptions;

  constructor(options: RecordedRunOptions) {
    this.id = options.id;
    this.metrics = options.model?.metrics ?? new MetricTable();
    this.#options = options;
  }

  summary(nowMs: number): RunSummary {
    const { recording, source, name } = this.#options;
    const { begin, updatedAtMs, isEnded } = recording;
    const { steps } = this.metrics;
    const { model, rank, totalSteps, budgetUsd } = begin ?? {};
    const isLive = source === 'live' && !isEnded;
    return {
      id: this.id,
      name,
      source,
      model,
      rank,
      state: isLive ? 'running' : runState({ steps, isFinal: isEnded, updatedAtMs, nowMs }),
      steps,
      totalSteps,
      startedAtMs: begin?.atMs,
      updatedAtMs,
      headline: this.metrics.headline(),
      costUsd: recording.costUsd,
      budgetUsd,
      revision: recording.revision,
      problems: 0,
      has: { events: true, timeline: recording.spans.total > 0, rollouts: false, examples: recording.examples.total > 0 },
      now: recording.now,
    };
  }

  detail(): RunDetail {
    const { recording, model, path } = this.#options;
    const { name, model: baseModel, rank, totalSteps } = recording.begin ?? {};
    return {
      id: this.id,
      path,
      config: { program: name, model: baseModel, rank, totalSteps, modelId: model?.modelId },
      metrics: metricList(this.metrics),
      checkpoints: model?.checkpoints ?? [],
      iterations: [],
      problems: [],
    };
  }

  timeline(after: number): Timeline {
    return timelineOf(this.#options.recording, after);
  }

  protocol(): ProtocolReading {
    return protocolOf(this.#options.recording, this.#options.protocol);
  }

  examples(): readonly ExampleView[] {
    return this.#options.recording.examples.items;
  }

  async rollouts(): Promise<RolloutsView | undefined> {
    return undefined;
  }
}

/** The names of all metrics, with how much there is of each. */
export function metricList(metrics: MetricTable): RunDetail['metrics'] {
  return metrics.names.map((name) => {
    const series = metrics.get(name);
    return { name, points: series?.length ?? 0, last: series?.last ?? 0 };
  });
}

/** The spans of a recording from `after` on. */
export function timelineOf({ spans, droppedSpans }: Recording, after: number): Timeline {
  return { spans: spans.since(after), dropped: droppedSpans, next: spans.total };
}

/** The requests of a recording, and what a test server said about them. */
export function protocolOf({ exchanges, routes }: Recording, source?: ProtocolSource): ProtocolReading {
  return {
    exchanges: exchanges.items,
    routes,
    brokenRules: (source?.violations ?? []).map(({ rule, text, detail, url }) => ({ rule, text, detail, url })),
    notices: (source?.notices ?? []).map(({ detail }) => detail),
  };
}
