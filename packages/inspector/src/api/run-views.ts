/** What the server reports to the page about runs. Both sides import these types and nothing else of each other. */

/** `running`: something was written lately; `stopped`: nothing was, and the run had not reached its end. */
export type RunState = 'running' | 'finished' | 'stopped' | 'empty';

/** A run in the list. */
export interface RunSummary {
  readonly id: string;
  readonly name: string;
  /** `live`: this process; `folder`: files on the disk. */
  readonly source: 'live' | 'folder';
  readonly model?: string | undefined;
  readonly rank?: number | undefined;
  readonly state: RunState;
  /** Steps done. */
  readonly steps: number;
  readonly totalSteps?: number | undefined;
  readonly startedAtMs?: number | undefined;
  readonly updatedAtMs?: number | undefined;
  /** The metric that says most about the run. */
  readonly headline?:
    | { readonly metric: string; readonly first: number; readonly last: number; readonly spark: readonly number[] }
    | undefined;
  readonly costUsd?: number | undefined;
  readonly budgetUsd?: number | undefined;
  /** Grows whenever there is something new to fetch. */
  readonly revision: number;
  /** Lines that cannot be read. */
  readonly problems: number;
  /** What the run has been recorded with; the page offers the views that have something to show. */
  readonly has: { readonly events: boolean; readonly timeline: boolean; readonly rollouts: boolean; readonly examples: boolean };
  /** Set for a run with events. */
  readonly now?: NowReading | undefined;
}

/** What a program does at one moment: now for a live run, at its last sign of life for a recorded one. */
export interface NowReading {
  readonly atMs: number;
  /** Calls that are not settled yet, by operation. */
  readonly inFlight: Readonly<Record<string, number>>;
  readonly pending: readonly PendingCall[];
  readonly queueState?: string | undefined;
  readonly queueReason?: string | undefined;
  /** When the shared backoff ends. */
  readonly rateLimitedUntilMs?: number | undefined;
  readonly tokensPerSecond: number;
  readonly samplesPerSecond: number;
  readonly stepsPerSecond: number;
  readonly totals: NowTotals;
}

/** Sums since the recording began. */
export interface NowTotals {
  readonly requests: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly retries: number;
  readonly failures: number;
  readonly samples: number;
  /** Of all prompts that were sampled from. */
  readonly promptTokens: number;
  readonly sampledTokens: number;
  readonly trainedTokens: number;
  readonly rateLimits: number;
  readonly missedHeartbeats: number;
}

/** A call that is not settled. */
export interface PendingCall {
  readonly type: string;
  readonly requestId?: string | undefined;
  readonly sinceMs: number;
  /** What it waits for, in words. */
  readonly waitsFor: string;
}

/** A checkpoint of a run. */
export interface CheckpointView {
  readonly name: string;
  readonly step?: number | undefined;
  readonly statePath?: string | undefined;
  readonly samplerPath?: string | undefined;
  readonly savedAtMs?: number | undefined;
  readonly ttlSeconds?: number | undefined;
  readonly isFinal: boolean;
}

/** One run, in full. */
export interface RunDetail {
  readonly id: string;
  readonly path?: string | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  readonly metrics: readonly { readonly name: string; readonly points: number; readonly last: number }[];
  readonly checkpoints: readonly CheckpointView[];
  readonly iterations: readonly { readonly iteration: number; readonly split: string }[];
  readonly problems: readonly { readonly file: string; readonly line: number; readonly message: string }[];
}

/** What the server can do, besides showing. */
export interface Features {
  readonly canChat: boolean;
  readonly canDownload: boolean;
  /** Whether texts and tokens are shown. */
  readonly hasContent: boolean;
  readonly models: readonly string[];
}

/** One message of the stream: the runs that changed since the last one. The first has all of them. */
export interface StreamUpdate {
  readonly atMs: number;
  readonly features: Features;
  readonly changed: readonly RunSummary[];
  readonly removed: readonly string[];
}
