import { requestObject, responseObject } from './objects.js';
import { integer, text } from './scalars.js';
import { optional } from './wire-type.js';

/**
 * Copies a checkpoint into a project. Clients from 0.26.2 to 0.33 name a session and carry the access token in the body; newer ones
 * name the project and send the token as a header.
 */
export interface CopyWeightsRequest {
  /** A `tinker://` path. */
  readonly sourcePath: string;
  readonly destinationProjectId?: string | undefined;
  /** Unset: the copy is kept forever, even if the source expires. */
  readonly ttlSeconds?: number | undefined;
  /** Older form: the session that gets the copy. */
  readonly sessionId?: string | undefined;
  /** Older form: counts the models of the session, from 0. */
  readonly modelSeqId?: number | undefined;
  /** Older form: the credential of another account that owns the weights. */
  readonly weightsAccessToken?: string | undefined;
}

/** {@link CopyWeightsRequest} on the wire. */
export const copyWeightsRequest = requestObject<CopyWeightsRequest>('CopyWeightsRequest', {
  sourcePath: text({ startsWith: 'tinker://' }),
  destinationProjectId: optional(text({ isNonEmpty: true })),
  ttlSeconds: optional(integer({ min: 1 })),
  sessionId: optional(text()),
  modelSeqId: optional(integer({ min: 0 })),
  weightsAccessToken: optional(text()),
});

/** Where the copy is. */
export interface CopyWeightsResponse {
  readonly tinkerPath: string;
}

/** {@link CopyWeightsResponse} on the wire. */
export const copyWeightsResponse = responseObject<CopyWeightsResponse>('CopyWeightsResponse', { tinkerPath: text() });
