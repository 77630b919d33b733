import { AbortedError, type SessionFinishReason } from '@tinkex/types';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { CallOptions } from '../runtime/call-options.js';
import { CallScope, ClientLifetime } from '../runtime/call-scope.js';
import type { Runtime } from '../runtime/runtime.js';

/** A program that ends must not hang for the whole of the outer retry layer when the server is gone. */
const FINISH_TIMEOUT_MS = 30_000;

/** How a server without this endpoint answers. */
const NO_SUCH_ENDPOINT = [404, 405];

/** Options of `service.close()`. The time limit covers the request that finishes the session. Default 30,000 ms. */
export interface CloseOptions extends CallOptions {
  /** Free text for people, such as why the program failed. */
  readonly detail?: string | undefined;
}

/** A session, and what sends its last request. */
export interface OpenSession {
  readonly sessionId: string;
  readonly parts: { readonly calls: EndpointCaller; readonly runtime: Pick<Runtime, 'clock'> };
}

/**
 * Reports to the server how the session ended. A server without that endpoint (404, 405) is not a failure.
 *
 * The client refuses new calls by now, so the request runs in a separate scope.
 */
export async function finishSession(
  { sessionId, parts: { calls, runtime } }: OpenSession,
  reason: SessionFinishReason,
  { detail, signal, timeoutMs = FINISH_TIMEOUT_MS, headers }: CloseOptions,
): Promise<void> {
  const scope = new CallScope({ clock: runtime.clock, lifetime: new ClientLifetime() }, { signal, timeoutMs });
  await scope.run((own) =>
    calls.call(
      'finishSession',
      { params: { sessionId }, body: { reason, detail } },
      { signal: own, headers, isScoped: true, acceptStatus: NO_SUCH_ENDPOINT },
    ),
  );
}

/** How work that threw this ended. */
export function reasonOf(error: unknown): SessionFinishReason {
  const isAbort = AbortedError.isInstance(error) || (error instanceof Error && error.name === 'AbortError');
  return isAbort ? 'interrupted' : 'errored';
}
