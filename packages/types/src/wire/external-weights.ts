import { list, mapOf } from './collections.js';
import { date } from './dates.js';
import { requestObject, responseObject } from './objects.js';
import { integer, text } from './scalars.js';
import { optional } from './wire-type.js';

/** How many keys one export can be encrypted to. */
const MAX_RECIPIENTS = 10;

/** Saves weights as files for other tools. Answered by a future of a {@link SaveWeightsExternalResponse}. */
export interface SaveWeightsExternalRequest {
  readonly modelId: string;
  /** The name of the checkpoint. */
  readonly path: string;
  /** From 1 up. */
  readonly seqId?: number | undefined;
  /** Unset: kept forever. */
  readonly ttlSeconds?: number | undefined;
  /** age or SSH public keys, at most 10. With them the files are encrypted, and their names end in `.age`. */
  readonly ageEncryptionRecipients?: readonly string[] | undefined;
}

/** {@link SaveWeightsExternalRequest} on the wire. */
export const saveWeightsExternalRequest = requestObject<SaveWeightsExternalRequest>(
  'SaveWeightsExternalRequest',
  {
    modelId: text(),
    path: text({ isNonEmpty: true }),
    seqId: optional(integer({ min: 1 })),
    ttlSeconds: optional(integer({ min: 1 })),
    ageEncryptionRecipients: optional(list(text({ isNonEmpty: true }), { max: MAX_RECIPIENTS })),
  },
  { tag: 'save_weights_external' },
);

/** Where the files were saved. */
export interface SaveWeightsExternalResponse {
  /** A `tinker://` path. */
  readonly path?: string | undefined;
  /** Size of all files together. */
  readonly sizeBytes?: number | undefined;
}

/** {@link SaveWeightsExternalResponse} on the wire. */
export const saveWeightsExternalResponse = responseObject<SaveWeightsExternalResponse>(
  'SaveWeightsExternalResponse',
  { path: optional(text()), sizeBytes: optional(integer()) },
  { tag: 'save_weights_external' },
);

/** Where the files of an external checkpoint can be downloaded. */
export interface ExternalWeightsUrlsResponse {
  /** By file path relative to the checkpoint. Each URL is signed: treat it as a secret. */
  readonly urls: Readonly<Record<string, string>>;
  /** When the URLs stop working. */
  readonly expires: Date;
}

/** {@link ExternalWeightsUrlsResponse} on the wire. */
export const externalWeightsUrlsResponse = responseObject<ExternalWeightsUrlsResponse>('ExternalWeightsUrlsResponse', {
  urls: mapOf(text()),
  expires: date(),
});
