/**
 * What the SDK tells about itself while it works. `http` and `clients` publish these on `node:diagnostics_channel` under
 * their names; `telemetry` consumes them. No event ever carries a key, a prompt, a token or a signed URL.
 */

/** Who an event is about. Every event carries it. */
export interface EventSource {
  /** One id per `ServiceClient` (or bare `HttpClient`), made at construction. */
  readonly clientId: string;
  readonly baseUrl: string;
  /** Set once the client has a session. */
  readonly sessionId?: string;
}

/** The kind of work a request belongs to: the operation names of the protocol, or the endpoint's name for direct calls. */
export type RequestType =
  | 'CreateModel'
  | 'Forward'
  | 'ForwardBackward'
  | 'OptimStep'
  | 'SaveWeights'
  | 'LoadWeights'
  | 'SaveWeightsForSampler'
  | 'UnloadModel'
  | 'Sample'
  | (string & {});

/** Fields that events of one operation share, so that they can be correlated. */
export interface OperationEvent extends EventSource {
  readonly requestType: RequestType;
  /** The server's promise id, once known. */
  readonly requestId?: string;
}

/**
 * One HTTP attempt. The same object is published at start, and again, with more fields, at stop or exception: use it as the
 * key of a `WeakMap` to correlate.
 */
export interface HttpRequestEvent extends EventSource {
  readonly requestType: RequestType;
  requestId?: string;
  readonly method: string;
  /** The path below the base URL, without the query. */
  readonly path: string;
  readonly pool: string;
  /** 0 for the first attempt. */
  readonly attempt: number;
  readonly requestBytes: number;
  /** From the injected clock, milliseconds. */
  readonly startedAtMs: number;
  durationMs?: number;
  /** Set at stop. */
  status?: number;
  /** Set at stop. */
  responseBytes?: number;
  /** Set at exception: the `code` and `name` of the error, never its message. */
  errorCode?: string;
  errorName?: string;
}

export interface HttpRetryEvent extends EventSource {
  readonly requestType: RequestType;
  readonly method: string;
  readonly path: string;
  /** The attempt that failed, from 0. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly status?: number;
  readonly errorCode?: string;
}

export interface FuturePollEvent extends OperationEvent {
  readonly requestId: string;
  /** The poll's number, from 0. */
  readonly attempt: number;
  readonly outcome: 'result' | 'pending' | 'metadata' | 'failed' | 'retry';
  readonly status?: number;
  readonly durationMs: number;
}

export interface FutureSettledEvent extends OperationEvent {
  readonly outcome: 'resolved' | 'rejected';
  readonly errorCode?: string;
  /** Number of polls made. */
  readonly attempt: number;
  /** From the call to the settlement. */
  readonly durationMs: number;
}

export interface FutureUnobservedFailureEvent extends OperationEvent {
  readonly errorCode: string;
  readonly errorName: string;
}

export type QueueState = 'active' | 'paused_capacity' | 'paused_rate_limit' | 'unknown';

export interface QueueStateChangeEvent extends OperationEvent {
  readonly requestId: string;
  readonly from?: QueueState;
  readonly to: QueueState;
  readonly reason?: string;
}

export interface SessionEvent extends EventSource {
  readonly sessionId: string;
  readonly durationMs?: number;
}

export interface HeartbeatMissedEvent extends SessionEvent {
  readonly errorCode: string;
  /** Time since the last heartbeat that was answered. */
  readonly sinceLastSuccessMs: number;
}

export interface RateLimitEvent extends EventSource {
  /** The limiter's identity: base URL and a hash of the key, never the key. */
  readonly limiterId: string;
  /** `set`: the new end of the backoff; `wait`: how long the call was held. */
  readonly delayMs: number;
}

export interface ChunkSubmitEvent extends OperationEvent {
  readonly modelId: string;
  readonly seqId: number;
  readonly chunkIndex: number;
  readonly chunkCount: number;
  readonly datums: number;
  readonly estimatedBytes: number;
  readonly durationMs: number;
}

/** One finished training call, chunks combined. */
export interface TrainingOperationEvent extends OperationEvent {
  readonly modelId: string;
  readonly datums: number;
  readonly tokens: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

/** One finished sampling call. */
export interface SamplingCallEvent extends OperationEvent {
  readonly samplingSessionId: string;
  readonly promptTokens: number;
  readonly samples: number;
  readonly sampledTokens: number;
  readonly attempt: number;
  readonly durationMs: number;
  readonly errorCode?: string;
}

export interface CheckpointEvent extends OperationEvent {
  readonly modelId: string;
  readonly path: string;
  readonly durationMs: number;
}

export interface DownloadProgressEvent extends EventSource {
  readonly path: string;
  readonly receivedBytes: number;
  readonly totalBytes?: number;
  readonly durationMs: number;
}

/** The catalogue: channel name to payload. */
export interface TinkexEvents {
  'tinkex:http:request:start': HttpRequestEvent;
  'tinkex:http:request:stop': HttpRequestEvent;
  'tinkex:http:request:exception': HttpRequestEvent;
  'tinkex:http:request:retry': HttpRetryEvent;
  'tinkex:future:poll': FuturePollEvent;
  'tinkex:future:settled': FutureSettledEvent;
  'tinkex:future:unobserved_failure': FutureUnobservedFailureEvent;
  'tinkex:queue:state_change': QueueStateChangeEvent;
  'tinkex:session:start': SessionEvent;
  'tinkex:session:heartbeat': SessionEvent;
  'tinkex:session:heartbeat_missed': HeartbeatMissedEvent;
  'tinkex:session:end': SessionEvent;
  'tinkex:rate_limit:set': RateLimitEvent;
  'tinkex:rate_limit:cleared': RateLimitEvent;
  'tinkex:rate_limit:wait': RateLimitEvent;
  'tinkex:chunk:submit': ChunkSubmitEvent;
  'tinkex:training:operation': TrainingOperationEvent;
  'tinkex:sampling:call': SamplingCallEvent;
  'tinkex:checkpoint:save': CheckpointEvent;
  'tinkex:checkpoint:load': CheckpointEvent;
  'tinkex:checkpoint:download': DownloadProgressEvent;
}

export type TinkexEventName = keyof TinkexEvents;

/** Any event with its name, as one discriminated union. */
export type TinkexEvent = { [Name in TinkexEventName]: { readonly name: Name; readonly event: TinkexEvents[Name] } }[TinkexEventName];
