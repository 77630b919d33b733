import type { WireFormat } from '@tinkex/types';
import type { RouteName } from '../routes/route-types.js';

/**
 * How a server differs from the hosted service, as data. Each field is one habit; the rest of the code
 * asks the field and never the name.
 */
export interface Dialect {
  readonly name: string;
  /** Bodies that `forward_backward` takes. */
  readonly requestFormats: readonly WireFormat[];
  /** The status that answers a body of another format. */
  readonly refusedFormatStatus: 400 | 415 | 422;
  /** Results of Sample, Forward and ForwardBackward: one format, or the one the poll accepts. */
  readonly resultFormat: WireFormat | 'accept';
  readonly submitStatus: 200 | 201 | 202;
  /** How ids look: `tinker` `S:train:0`, `uuid`, or `number`. */
  readonly ids: 'tinker' | 'uuid' | 'number';
  /** How long a poll is held; undefined = the server's option. */
  readonly longPollMs: number | undefined;
  /** What a pending future answers: 408 with a body, 408 without, or 200. */
  readonly pending: 'timeout' | 'timeout-blank' | 'try-again';
  /** What a failed future answers. */
  readonly failure: 'category' | 'request-failed' | 'detail' | 'error-message';
  /** How a failure's category is spelt: `user`, `user_error`, `USER`, or not at all. */
  readonly failureCategory: 'plain' | 'suffixed' | 'upper' | 'none';
  /** Routes that do not exist. */
  readonly missingRoutes: readonly RouteName[];
  /** The status that answers them. */
  readonly missingStatus: 404 | 405;
  /** Whether operations may arrive out of order. */
  readonly order: 'any' | 'strict';
  /** What a repeated submission gets. */
  readonly repeat: 'original' | 'conflict';
  /** What a second save under the same name gets: a failed future, or 409 at once. */
  readonly nameClash: 'failure' | 'conflict';
  /** Names a checkpoint may have. */
  readonly checkpointName: RegExp;
  /** The middle segment of a sampler checkpoint's path; empty = none. */
  readonly samplerSegment: 'sampler_weights' | '';
  /** Whether listings give `weights/name` or `name`. */
  readonly checkpointIds: 'prefixed' | 'bare';
  readonly archive: 'redirect' | 'json';
  /** N entries with a null first, or N - 1. */
  readonly promptLogprobs: 'full' | 'shifted';
  /** Metric names with `:reduction`, without, or no metrics at all. */
  readonly metrics: 'reduced' | 'plain' | 'none';
  /** The key of the name in capabilities. */
  readonly modelNameKey: 'model_name' | 'model_id';
  /** Whether capabilities and info carry more than the name. */
  readonly hasModelDetails: boolean;
  /** Whether times end in `Z`. */
  readonly hasTimeZone: boolean;
  /** Which credentials are good: keys with the `tml-` prefix, any, or none needed. */
  readonly keys: 'tml' | 'any' | 'none';
  /** Flags sent by `client/config` on top of the server's option, unknown ones included. */
  readonly clientConfig: Readonly<Record<string, unknown>>;
  /** Whether a sample submission answers with `sample_sequence_ids`, and its sequences carry ids. */
  readonly hasSequenceIds: boolean;
  /** SDK versions that `create_session` and `client/config` accept; undefined = all. */
  readonly sdkVersions: RegExp | undefined;
}

/** The hosted service: what every other dialect deviates from. */
export const HOSTED: Dialect = {
  name: 'hosted',
  requestFormats: ['protobuf'],
  refusedFormatStatus: 415,
  resultFormat: 'protobuf',
  submitStatus: 200,
  ids: 'tinker',
  longPollMs: undefined,
  pending: 'timeout',
  failure: 'category',
  failureCategory: 'plain',
  missingRoutes: ['forward'],
  missingStatus: 404,
  order: 'any',
  repeat: 'original',
  nameClash: 'failure',
  checkpointName: /^[^/\s]{1,256}$/,
  samplerSegment: 'sampler_weights',
  checkpointIds: 'prefixed',
  archive: 'redirect',
  promptLogprobs: 'full',
  metrics: 'reduced',
  modelNameKey: 'model_name',
  hasModelDetails: true,
  hasTimeZone: true,
  keys: 'tml',
  clientConfig: {},
  hasSequenceIds: false,
  sdkVersions: undefined,
};
