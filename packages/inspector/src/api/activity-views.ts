/** One operation on the timeline. Times are milliseconds since the epoch. */
export interface Span {
  readonly lane: Lane;
  /** The operation, such as `ForwardBackward`. */
  readonly type: string;
  readonly startMs: number;
  /** When the server had accepted it. */
  readonly submittedMs?: number | undefined;
  /** When the server reported that it had begun, after a pause. */
  readonly runningMs?: number | undefined;
  readonly endMs: number;
  readonly id?: string | undefined;
  readonly tokens?: number | undefined;
  /** The code of the error, if it failed. */
  readonly error?: string | undefined;
}

/** The rows of the timeline. */
export type Lane = 'sampling' | 'passes' | 'optimizer' | 'checkpoints' | 'other';

/** A part of the timeline. */
export interface Timeline {
  readonly spans: readonly Span[];
  /** Spans that were too many to keep. */
  readonly dropped: number;
  /** Where the next request continues. */
  readonly next: number;
}

/** One HTTP attempt. */
export interface Exchange {
  readonly atMs: number;
  readonly type: string;
  readonly method: string;
  readonly path: string;
  readonly attempt: number;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  readonly durationMs: number;
  readonly sentBytes: number;
  readonly receivedBytes?: number | undefined;
}

/** All attempts of one kind. */
export interface RouteTotal {
  readonly type: string;
  readonly requests: number;
  readonly failures: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly totalMs: number;
}

/** A rule of the protocol that a request broke, as a test server reports it. A `Violation` of `@tinkex/testkit` is one. */
export interface BrokenRule {
  readonly rule: string;
  /** The rule itself. */
  readonly text: string;
  readonly detail: string;
  /** The page that says so. */
  readonly url: string;
}

/** The requests of a program. */
export interface ProtocolReading {
  readonly exchanges: readonly Exchange[];
  readonly routes: readonly RouteTotal[];
  readonly brokenRules: readonly BrokenRule[];
  readonly notices: readonly string[];
}

/** One episode of a group. */
export interface RolloutView {
  readonly group: number;
  readonly trajectory: number;
  readonly reward: number;
  /** The reward less the mean of its group. */
  readonly advantage: number;
  readonly tags: readonly string[];
  readonly metrics: Readonly<Record<string, number>>;
  readonly turns: readonly {
    readonly promptTokens: number;
    readonly answerTokens: number;
    readonly reward: number;
    readonly metrics: Readonly<Record<string, number>>;
    readonly logs: Readonly<Record<string, string>>;
  }[];
}

/** The rollouts of one iteration. `texts` is there only if content is shown. */
export interface RolloutsView {
  readonly iteration: number;
  readonly split: string;
  readonly rollouts: readonly RolloutView[];
  readonly texts: readonly GroupText[];
}

/** What was said in a group: a tree of titles, paragraphs and conversations. */
export type GroupText =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'message'; readonly role: string; readonly text: string; readonly toolCalls: readonly string[] };

/** A token of an example. */
export interface ExampleToken {
  readonly ids: readonly number[];
  readonly text: string;
  readonly weight: number;
  /** Of the trainer. */
  readonly logprob?: number | undefined;
  /** Of the sampler. */
  readonly samplerLogprob?: number | undefined;
}

/** A training example, token by token. */
export interface ExampleView {
  readonly atMs: number;
  readonly title: string;
  readonly step?: number | undefined;
  readonly tokens: readonly ExampleToken[];
}
