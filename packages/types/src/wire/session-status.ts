import { requestObject, responseType } from './objects.js';
import { nullable, oneOf, text } from './scalars.js';
import { objectOf } from './schema.js';
import { type OtherKind, openUnion } from './unions.js';
import { optional, type WireType } from './wire-type.js';

/** How a client says that its session ended. */
export type SessionFinishReason = 'success' | 'errored' | 'interrupted';

/** Text here, `{ "type": … }` on the wire. */
export const finishReason: WireType<SessionFinishReason> = {
  schema: () => objectOf({ type: { schema: oneOf('success', 'errored', 'interrupted').schema(false), isOptional: false } }, false),
  toWire: (value) => ({ type: value }),
  fromWire: (wire) => (wire as { readonly type: SessionFinishReason }).type,
};

/** Ends a session. The first reason stays. */
export interface FinishSessionRequest {
  readonly reason: SessionFinishReason;
  /** Free text for people. Unset is sent as null. */
  readonly detail?: string | null | undefined;
}

/** {@link FinishSessionRequest} on the wire. */
export const finishSessionRequest = requestObject<FinishSessionRequest>('FinishSessionRequest', {
  reason: finishReason,
  detail: optional(nullable(text()), { fallback: () => null }),
});

/** What made a session fail. */
export type SessionFailureReason =
  | { readonly type: 'request'; readonly requestId: string; readonly requestType: string }
  | { readonly type: 'training_run'; readonly trainingRunId: string }
  | { readonly type: 'sampling_session'; readonly samplingSessionId: string }
  | OtherKind;

/** The server ended the session because something in it failed. */
export interface FailedSession {
  readonly type: 'failed';
  readonly category: 'user' | 'internal' | (string & {});
  readonly reason: SessionFailureReason;
  readonly message: string;
}

/** Whether a session runs, or how it ended. A status that this version does not know has the type `other`. */
export type SessionStatus =
  | { readonly type: 'active' }
  | { readonly type: 'cancelled'; readonly detail?: string | undefined }
  | { readonly type: 'client_finished'; readonly reason: SessionFinishReason; readonly detail?: string | undefined }
  | FailedSession
  | OtherKind;

const failureReason = openUnion<Exclude<SessionFailureReason, OtherKind>, 'type'>('type', {
  request: responseType<{ readonly requestId: string; readonly requestType: string }>({ requestId: text(), requestType: text() }),
  training_run: responseType<{ readonly trainingRunId: string }>({ trainingRunId: text() }),
  sampling_session: responseType<{ readonly samplingSessionId: string }>({ samplingSessionId: text() }),
});

/** {@link SessionStatus} on the wire. */
export const sessionStatus = openUnion<Exclude<SessionStatus, OtherKind>, 'type'>('type', {
  active: responseType<object>({}),
  cancelled: responseType<{ readonly detail?: string | undefined }>({ detail: optional(text()) }),
  client_finished: responseType<{ readonly reason: SessionFinishReason; readonly detail?: string | undefined }>({
    reason: finishReason,
    detail: optional(text()),
  }),
  failed: responseType<Omit<FailedSession, 'type'>>({ category: text(), reason: failureReason, message: text() }),
});
