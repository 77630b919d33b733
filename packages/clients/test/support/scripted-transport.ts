import {
  type Clock,
  createResponse,
  elapsedMs,
  type MonotonicTime,
  sleep,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@tinkex/http';
import { AbortedError, ConnectionError, TimeoutError } from '@tinkex/types';

/** One answer as the vectors write it. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly content_type?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connection_error?: boolean;
  readonly timeout?: boolean;
}

/** What a request looked like. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly bytes: Uint8Array | undefined;
  /** Since the transport was created. */
  readonly atMs: number;
}

export type Handler = (request: SeenRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A transport that answers from a function and remembers what it saw. Requests can be aborted while the handler works. */
export class ScriptedTransport implements Transport {
  readonly seen: SeenRequest[] = [];
  readonly #clock: Clock;
  readonly #startedAt: MonotonicTime;
  readonly #handler: Handler;
  isClosed = false;

  constructor(clock: Clock, handler: Handler) {
    this.#clock = clock;
    this.#startedAt = clock.monotonicMs();
    this.#handler = handler;
  }

  /** Requests of one endpoint, by the end of their path. */
  of(endpoint: string): SeenRequest[] {
    return this.seen.filter(({ path }) => path.endsWith(endpoint));
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const bytes = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
    const isJson = (request.headers['content-type'] ?? '').includes('json') && bytes !== undefined && bytes.byteLength > 0;
    const seen: SeenRequest = {
      method: request.method,
      path: new URL(request.url).pathname,
      headers: request.headers,
      body: isJson ? JSON.parse(new TextDecoder().decode(bytes)) : undefined,
      bytes,
      atMs: elapsedMs(this.#clock, this.#startedAt),
    };
    this.seen.push(seen);
    return responseOf(await abortable(Promise.resolve(this.#handler(seen)), request));
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** Answers one after the other; the last one forever if `repeatLast`. */
export function answersInOrder(answers: readonly ScriptedAnswer[], repeatLast = false): Handler {
  let next = 0;
  return () => {
    const answer = answers[next] ?? (repeatLast ? answers[answers.length - 1] : undefined);
    next += 1;
    if (answer === undefined) throw new Error(`No answer is scripted for request ${next}`);
    return answer;
  };
}

/** An answer that never comes. */
export function never(): Promise<ScriptedAnswer> {
  return new Promise(() => undefined);
}

/** An answer that takes its time on the injected clock. */
export async function later(clock: Clock, delayMs: number, answer: ScriptedAnswer): Promise<ScriptedAnswer> {
  await sleep(clock, delayMs);
  return answer;
}

function responseOf(answer: ScriptedAnswer): TransportResponse {
  if (answer.connection_error) throw new ConnectionError({ message: 'scripted: connection reset' });
  if (answer.timeout) throw new TimeoutError({ message: 'scripted: timeout', phase: 'headers' });
  const type = answer.content_type === undefined ? {} : { 'content-type': answer.content_type };
  const body = answer.body === null ? undefined : answer.body;
  return createResponse({ status: answer.status ?? 200, headers: { ...type, ...answer.headers }, body });
}

function abortable<T>(work: Promise<T>, { signal, cancellation }: TransportRequest): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(new AbortedError({ message: 'aborted', cause: signal?.reason }));
    if (cancellation !== undefined) cancellation.listen({ cancelled: reject });
    else if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal?.removeEventListener('abort', onAbort);
      cancellation?.listen(undefined);
    });
  });
}
