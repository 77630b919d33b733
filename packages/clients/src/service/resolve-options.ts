import { ConfigurationError, type JsonObject, type WireFormat } from '@tinkex/types';
import { requireAtLeast, requirePositive } from '../connection/option-checks.js';
import { CONNECTION_OPTION_NAMES, type ResolvedConnectionOptions, resolveConnectionOptions } from '../connection/resolve-options.js';
import { readEnvironment, type TinkerEnvironment } from '../environment.js';
import type { ClientLimits } from '../limits/client-limits.js';
import { rejectUnknownOptions } from '../runtime/reject-unknown-options.js';
import type { TokenizerOptions } from '../tokenizers/tokenizer-library.js';
import { DEFAULT_HEARTBEAT_INTERVAL_MS } from './heartbeat.js';
import type { ServiceClientOptions } from './service-options.js';

/** Options with the environment and the defaults filled in. */
export interface ResolvedOptions
  extends ResolvedConnectionOptions,
    Pick<ServiceClientOptions, 'projectId' | 'displayName' | 'publishContent' | 'tokenizer'> {
  readonly tags: readonly string[];
  readonly userMetadata: JsonObject;
  readonly wireFormat: WireFormat | 'auto';
  readonly heartbeatIntervalMs: number;
  readonly limits: ClientLimits;
}

/** Every option, so that a misspelled one is an error. */
const OPTION_NAMES: Readonly<Record<keyof ServiceClientOptions, true>> = {
  ...CONNECTION_OPTION_NAMES,
  projectId: true,
  displayName: true,
  tags: true,
  userMetadata: true,
  wireFormat: true,
  publishContent: true,
  heartbeatIntervalMs: true,
  limits: true,
  tokenizer: true,
};

const LIMIT_NAMES: Readonly<Record<keyof ClientLimits, true>> = {
  maxConcurrentPolls: true,
  maxDispatchBytes: true,
  maxReusedBodyBytes: true,
  maxResponseBytesInFlight: true,
  maxUnfinishedOperations: true,
  maxConcurrentSampleSubmissions: true,
  maxThrottledSampleSubmissions: true,
  maxPromptBytesInFlight: true,
  maxConcurrentSamples: true,
  maxSampleStartsPerTurn: true,
};

const TOKENIZER_NAMES: Readonly<Record<keyof TokenizerOptions, true>> = {
  load: true,
  directory: true,
  hubUrl: true,
  hubToken: true,
  cacheDirectory: true,
};

/**
 * Checks the options and fills in the environment and the defaults. Makes no request.
 *
 * @throws `ConfigurationError` naming the option and, where there is one, the environment variable.
 */
export function resolveOptions(options: ServiceClientOptions): ResolvedOptions {
  rejectUnknownOptions(options, OPTION_NAMES, '');
  rejectUnknownOptions(options.limits ?? {}, LIMIT_NAMES, 'limits.');
  rejectUnknownOptions(options.tokenizer ?? {}, TOKENIZER_NAMES, 'tokenizer.');
  const environment = readEnvironment();
  requirePositive(options.heartbeatIntervalMs, 'heartbeatIntervalMs');
  const { maxReusedBodyBytes, ...limits } = options.limits ?? {};
  // A limit below one would admit no call, ever.
  for (const [name, limit] of Object.entries(limits)) requireAtLeast(1, limit, `limits.${name}`);
  // This one may be 0.
  if (maxReusedBodyBytes !== 0) requirePositive(maxReusedBodyBytes, 'limits.maxReusedBodyBytes');
  requireWireFormat(options.wireFormat);
  return {
    ...options,
    ...resolveConnectionOptions(options, environment),
    projectId: options.projectId || environment.projectId,
    displayName: options.displayName || undefined,
    tags: options.tags ?? environment.tags,
    userMetadata: options.userMetadata ?? {},
    wireFormat: options.wireFormat ?? 'auto',
    tokenizer: resolveTokenizerOptions(options.tokenizer ?? {}, environment),
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? DEFAULT_HEARTBEAT_INTERVAL_MS,
    limits: options.limits ?? {},
  };
}

/** A token of the environment is meant for the default hub. Another one could be anybody's. */
function resolveTokenizerOptions(options: TokenizerOptions, { hubToken, cacheHome }: TinkerEnvironment): TokenizerOptions {
  const defaultDirectory = cacheHome === undefined ? false : `${cacheHome}/tinkex/tokenizers`;
  return {
    ...options,
    hubToken: options.hubToken ?? (options.hubUrl === undefined ? hubToken : undefined),
    cacheDirectory: options.cacheDirectory ?? defaultDirectory,
  };
}

function requireWireFormat(value: unknown): void {
  if (value === undefined || value === 'auto' || value === 'protobuf' || value === 'json') return;
  throw new ConfigurationError({
    message: `Option wireFormat must be auto, protobuf or json, got ${String(value)}.`,
    option: 'wireFormat',
  });
}
