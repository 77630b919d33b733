/** What each event of the catalog carries. No event ever carries a key, a prompt, a token or a signed URL. */

/** Who an event is about. Every event carries it. */
export interface EventSource {
  /** One id per `ServiceClient` (or bare `HttpClient`), made at construction. */
  readonly clientId: string;
  /** The normalized base URL, without credentials or query. */
  readonly baseUrl: string;
  /** Set once the client has a session. */
  readonly sessionId?: string | undefined;
}

/** The kind of work a request belongs to: the operation names of the protocol, or the endpoint's name for direct calls. */
export type RequestType =
  | 'CreateModel'
  | 'CreateCustomLoss'
  | 'Forward'
  | 'ForwardBackward'
  | 'OptimStep'
  | 'SaveWeights'
  | 'LoadWeights'
  | 'SaveWeightsForSampler'
  | 'SaveWeightsExternal'
  | 'UnloadModel'
  | 'Sample'
  | (string & {});

/** Fields that events of one operation share, so that they can be correlated. */
export interface OperationEvent extends EventSource {
  /** The kind of work. */
  readonly requestType: RequestType;
  /** The call of the user that this belongs to, if it returns a future. Unique within the client. */
  readonly callId?: number | undefined;
  /** The ID of the operation, once known. */
  readonly requestId?: string | undefined;
  /** The number of attempts before this one (or, once settled, in all), where that is known. */
  readonly attempt?: number | undefined;
  /** How long it took, milliseconds, where that is known. */
  readonly durationMs?: number | undefined;
}

/**
 * One HTTP attempt. The same object is published at start, and again, with more fields, at stop or exception: use it as the
 * key of a `WeakMap` to correlate.
 */
export interface HttpRequestEvent extends EventSource {
  /** The operation or endpoint this attempt belongs to. */
  readonly requestType: RequestType;
  /** The call of the user that this attempt belongs to, if it returns a future. Unique within the client. */
  readonly callId?: number | undefined;
  /** The server's id of this request, once known. */
  requestId?: string | undefined;
  /** Upper case. */
  readonly method: string;
  /** The path below the base URL, without the query. */
  readonly path: string;
  /** The connection pool it runs in. */
  readonly pool: string;
  /** 0 for the first attempt. */
  readonly attempt: number;
  /** Size of the body as sent. */
  readonly requestBytes: number;
  /** From the injected clock, milliseconds. */
  readonly startedAtMs: number;
  /** Set at stop and exception, milliseconds. */
  durationMs?: number | undefined;
  /** Set at stop. */
  status?: number | undefined;
  /** Set at stop: the size of the body, unpacked. Not set for a body that is read as a stream. */
  responseBytes?: number | undefined;
  /** Set at exception: the `code` of the error, never its message. */
  errorCode?: string | undefined;
  /** Set at exception: the `name` of the error. */
  errorName?: string | undefined;
}

/** A failed attempt that will be repeated after a pause. */
export interface HttpRetryEvent extends EventSource {
  /** The operation or endpoint. */
  readonly requestType: RequestType;
  /** The call of the user that the attempt belongs to, if it returns a future. */
  readonly callId?: number | undefined;
  /** The server's id of the failed request, if it gave one. */
  readonly requestId?: string | undefined;
  /** Upper case. */
  readonly method: string;
  /** The path below the base URL, without the query. */
  readonly path: string;
  /** The attempt that failed, from 0. */
  readonly attempt: number;
  /** The pause before the next attempt, milliseconds. */
  readonly delayMs: number;
  /** How long the failed attempt took, milliseconds. */
  readonly durationMs?: number | undefined;
  /** The answer's status, if there was an answer. */
  readonly status?: number | undefined;
  /** The `code` of the error, if there was none. */
  readonly errorCode?: string | undefined;
}

/** A call whose future has just been created. */
export interface FutureStartEvent extends OperationEvent {
  readonly callId: number;
  /** When the method was called, from the injected clock, milliseconds. */
  readonly startedAtMs: number;
}

/** One answered poll of a future. */
export interface FuturePollEvent extends OperationEvent {
  readonly requestId: string;
  /** The poll's number, from 0. */
  readonly attempt: number;
  /** What the answer meant. */
  readonly outcome: 'result' | 'pending' | 'metadata' | 'failed' | 'retry';
  /** The answer's status, if there was an answer. */
  readonly status?: number | undefined;
  /** How long the poll took, milliseconds. */
  readonly durationMs: number;
}

/** The end of a future, whether or not anything waits for it. */
export interface FutureSettledEvent extends OperationEvent {
  readonly outcome: 'resolved' | 'rejected';
  /** The `code` of the error when rejected. */
  readonly errorCode?: string | undefined;
  /** Number of polls made. */
  readonly attempt: number;
  /** From the call to the settlement, milliseconds. */
  readonly durationMs: number;
}

/** A failure of a future that nothing was waiting for. */
export interface FutureUnobservedFailureEvent extends OperationEvent {
  /** The `code` of the error. */
  readonly errorCode: string;
  /** The `name` of the error. */
  readonly errorName: string;
}

/** What the service does with a queued operation. */
export type QueueState = 'active' | 'paused_capacity' | 'paused_rate_limit' | 'unknown';

/** A change of the queue state that polling saw; repeated states are not published. */
export interface QueueStateChangeEvent extends OperationEvent {
  readonly requestId: string;
  /** Absent for the first state seen. */
  readonly from?: QueueState | undefined;
  readonly to: QueueState;
  /** The service's own words, if it gave any. */
  readonly reason?: string | undefined;
}

/** The life of a session. */
export interface SessionEvent extends EventSource {
  readonly sessionId: string;
  /** The endpoint that was called, if one was. */
  readonly requestType?: RequestType | undefined;
  /** The server's id of that request. */
  readonly requestId?: string | undefined;
  /** How many tries the call took, from 0. */
  readonly attempt?: number | undefined;
  /** `start`, `heartbeat`: of the call; `end`: of the session. Milliseconds. */
  readonly durationMs?: number | undefined;
}

/** A heartbeat that was not answered. */
export interface HeartbeatMissedEvent extends SessionEvent {
  /** The `code` of the error. */
  readonly errorCode: string;
  /** Time since the last heartbeat that was answered, milliseconds. */
  readonly sinceLastSuccessMs: number;
}

/** A shared sampling backoff. */
export interface RateLimitEvent extends EventSource {
  /** The limiter's identity: base URL and a hash of the key, never the key. */
  readonly limiterId: string;
  /** `set`: how far away the new end of the backoff is; `wait`: how long the call was held. Milliseconds. */
  readonly delayMs: number;
  /** The work that met the limit. */
  readonly requestType?: RequestType | undefined;
  /** The server's id of the request that was refused. */
  readonly requestId?: string | undefined;
  /** Which try of the call this was, from 0. */
  readonly attempt?: number | undefined;
  /** `cleared`: how long the backoff lasted, milliseconds. */
  readonly durationMs?: number | undefined;
}

/** One accepted part of a training call. */
export interface ChunkSubmitEvent extends OperationEvent {
  readonly modelId: string;
  /** The call's place in the model's order. */
  readonly seqId: number;
  /** From 0. */
  readonly chunkIndex: number;
  /** Parts of this call. */
  readonly chunkCount: number;
  /** Examples in this part. */
  readonly datums: number;
  /** The size by the protocol's estimate. */
  readonly estimatedBytes: number;
  /** Of the submission, milliseconds. */
  readonly durationMs: number;
}

/** One finished training call, chunks combined. */
export interface TrainingOperationEvent extends OperationEvent {
  readonly modelId: string;
  /** Examples in the call; 0 for calls without data. */
  readonly datums: number;
  /** Input tokens in the call; 0 for calls without data. */
  readonly tokens: number;
  /** The sum of the weights of the data: `loss:sum` divided by it is the loss per token. Unset for calls without data. */
  readonly lossWeight?: number | undefined;
  /** The server's metrics, by the server's names. */
  readonly metrics: Readonly<Record<string, number>>;
  /** From the call to the result, milliseconds. */
  readonly durationMs: number;
}

/** One finished sampling call. */
export interface SamplingCallEvent extends OperationEvent {
  readonly samplingSessionId: string;
  /** The base model, or the `tinker://` path of the weights, where the client knows it. */
  readonly model?: string | undefined;
  /** The settings of the call, where they are set. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly seed?: number | undefined;
  /** Why each sequence ended. */
  readonly finishReasons?: readonly string[] | undefined;
  /** Tokens in the prompt: a count. */
  readonly promptTokens: number;
  /** Sequences asked for. */
  readonly samples: number;
  /** Tokens in all sequences: a count. */
  readonly sampledTokens: number;
  /** Tries made before the one that ended the call. */
  readonly attempt: number;
  /** From the call to its end, milliseconds. */
  readonly durationMs: number;
  /** The `code` of the error, when it failed. */
  readonly errorCode?: string | undefined;
  /** The prompt and the sampled tokens. Set only if the client publishes content; sinks leave it out unless they are configured to show it. */
  readonly content?: { readonly prompt: ArrayLike<number>; readonly sequences: readonly ArrayLike<number>[] } | undefined;
}

/** A checkpoint written or read by the service. */
export interface CheckpointEvent extends OperationEvent {
  readonly modelId: string;
  /** The checkpoint's `tinker://` path. */
  readonly path: string;
  /** From the call to the result, milliseconds. */
  readonly durationMs: number;
}

/** Bytes of a checkpoint arriving. */
export interface DownloadProgressEvent extends EventSource {
  /** The checkpoint's `tinker://` path, never the signed URL. */
  readonly path: string;
  /** Since the start of the download. */
  readonly receivedBytes: number;
  /** Absent when the server did not say. */
  readonly totalBytes?: number | undefined;
  /** The endpoint that was called. */
  readonly requestType?: RequestType | undefined;
  /** The server's id of the request. */
  readonly requestId?: string | undefined;
  /** How many times the download was resumed. */
  readonly attempt?: number | undefined;
  /** Since the start of the download, milliseconds. */
  readonly durationMs: number;
}
