import type { WireFormat } from '@tinkex/types';
import type { RouteName } from '../routes/route-types.js';

/**
 * How a server differs from the hosted service, as data. Each field is one habit, and handlers read the field, never the name of a server.
 */
export interface Dialect {
  readonly name: string;
  /** Bodies that `forward_backward` takes. */
  readonly requestFormats: readonly WireFormat[];
  /** The status for a body of another format. 500 where the server fails while it reads the body. */
  readonly refusedFormatStatus: 400 | 415 | 422 | 500;
  /** Results of Sample, Forward and ForwardBackward: one format, or the one that the poll accepts. */
  readonly resultFormat: WireFormat | 'accept';
  readonly submitStatus: 200 | 201 | 202;
  /** The shape of ids: `tinker` for `S:train:0`, `uuid`, or `number`. */
  readonly ids: 'tinker' | 'uuid' | 'number';
  /** How long a poll is held; undefined for the server's option. */
  readonly longPollMs: number | undefined;
  /** What a pending future answers: 408 with a body, 408 without, or 200. */
  readonly pending: 'timeout' | 'timeout-blank' | 'try-again';
  /** What a failed future answers. */
  readonly failure: 'category' | 'request-failed' | 'detail' | 'error-message';
  /** The status of the failures `detail` and `error-message`. */
  readonly failureStatus: 400 | 422;
  /** The spelling of a failure's category: `user`, `user_error`, `USER`, or none. */
  readonly failureCategory: 'plain' | 'suffixed' | 'upper' | 'none';
  /** Routes that do not exist. */
  readonly missingRoutes: readonly RouteName[];
  /** The status for routes that do not exist. */
  readonly missingStatus: 404 | 405;
  /**
   * Whether operations may arrive out of order: `strict` refuses the submission, `gapless` fails every operation behind a missing sequence ID.
   * There, a refused submission leaves such a gap.
   */
  readonly order: 'any' | 'strict' | 'gapless';
  /** What a repeated submission gets. */
  readonly repeat: 'original' | 'conflict';
  /**
   * What a second save under the same name gets: a failed future, a 409 to the submission, a 500 whatever `overwrite` says, or the place of the
   * first.
   */
  readonly nameClash: 'failure' | 'conflict' | 'error' | 'overwrite';
  /** Names a checkpoint may have. */
  readonly checkpointName: RegExp;
  /** The range of a checkpoint's time-to-live, inclusive. */
  readonly ttlSeconds: { readonly min: number; readonly max: number };
  /** The middle segment of a sampler checkpoint's path; empty for none. */
  readonly samplerSegment: 'sampler_weights' | '';
  /** Whether listings give `weights/name` or `name`. */
  readonly checkpointIds: 'prefixed' | 'bare';
  /** How an archive is named: a redirect, a JSON answer, or a redirect to a place on the server's disk. */
  readonly archive: 'redirect' | 'json' | 'file';
  /** Which models take weights: all, or only those that have not been trained. */
  readonly loads: 'any' | 'untrained';
  /** Prompt log-probabilities: N entries with a null first, N - 1, or none. */
  readonly promptLogprobs: 'full' | 'shifted' | 'none';
  /** What a sample may stop at: a text or a list, a list only (else 422), or nothing, because stops are ignored. */
  readonly stops: 'any' | 'lists' | 'ignored';
  /** Whether a sample without `max_tokens` is refused with 400. */
  readonly isMaxTokensRequired: boolean;
  /** Metric names with `:reduction`, without, or no metrics at all. */
  readonly metrics: 'reduced' | 'plain' | 'none';
  /** The key of a model's name in the capabilities. */
  readonly modelNameKey: 'model_name' | 'model_id';
  /** Whether capabilities and model info contain more than the name. */
  readonly hasModelDetails: boolean;
  /** Whether times end in `Z`. */
  readonly hasTimeZone: boolean;
  /** Which credentials are valid: keys with the `tml-` prefix, any key, or no key at all. */
  readonly keys: 'tml' | 'any' | 'none';
  /** Flags sent by `client/config` on top of the server's option, unknown ones included. */
  readonly clientConfig: Readonly<Record<string, unknown>>;
  /** Whether a sample submission answers with `sample_sequence_ids`, and its sequences carry ids. */
  readonly hasSequenceIds: boolean;
  /** SDK versions that `create_session` and `client/config` accept; undefined for all. */
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
  failureStatus: 400,
  failureCategory: 'plain',
  missingRoutes: ['forward'],
  missingStatus: 404,
  order: 'any',
  repeat: 'original',
  nameClash: 'failure',
  checkpointName: /^[^/\s]{1,256}$/,
  ttlSeconds: { min: 3_600, max: 10 * 365 * 86_400 },
  samplerSegment: 'sampler_weights',
  checkpointIds: 'prefixed',
  archive: 'redirect',
  loads: 'any',
  promptLogprobs: 'full',
  stops: 'any',
  isMaxTokensRequired: false,
  metrics: 'reduced',
  modelNameKey: 'model_name',
  hasModelDetails: true,
  hasTimeZone: true,
  keys: 'tml',
  clientConfig: {},
  hasSequenceIds: true,
  sdkVersions: undefined,
};
