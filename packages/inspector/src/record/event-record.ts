import type { PriceTable } from '@tinkex/telemetry/runs';
import type { ExampleView, Exchange, RouteTotal, Span } from '../api/activity-views.js';
import type { NowReading } from '../api/run-views.js';

/** What a program says about itself when its recording begins. */
export interface RunDescription {
  /** Default: the name of the program's file. */
  readonly name?: string | undefined;
  /** The base model that is trained. */
  readonly model?: string | undefined;
  readonly rank?: number | undefined;
  /** With it, the page shows the time left. */
  readonly totalSteps?: number | undefined;
  readonly budgetUsd?: number | undefined;
  /** What the model costs, in US dollars per million tokens. With it, the page shows what the run has cost so far. */
  readonly prices?: PriceTable | undefined;
}

/** One line of a recording. A live run and a recorded one go through the same records, so that both show the same. */
export type EventRecord =
  | ({ readonly kind: 'begin'; readonly atMs: number; readonly pid: number; readonly name: string } & RunDescription)
  | {
      readonly kind: 'metrics';
      readonly atMs: number;
      readonly modelId: string;
      readonly step: number;
      readonly metrics: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'checkpoint'; readonly atMs: number; readonly modelId: string; readonly step: number; readonly path: string }
  | { readonly kind: 'example'; readonly atMs: number; readonly example: ExampleView }
  | ({ readonly kind: 'span'; readonly atMs: number } & Span)
  | ({ readonly kind: 'exchange' } & Exchange)
  | {
      readonly kind: 'tick';
      readonly atMs: number;
      readonly reading: NowReading;
      readonly routes: readonly RouteTotal[];
      /** Spans that were too many to record, since the beginning. */
      readonly droppedSpans: number;
    }
  | { readonly kind: 'end'; readonly atMs: number };

/** Records that are kept as long as possible: they are few, and they tell the story. The others only show what happened lately. */
export function isHistory({ kind }: EventRecord): boolean {
  return kind !== 'span' && kind !== 'exchange' && kind !== 'tick';
}
