import { type Clock, normalizeBaseUrl, type Random, REFERENCE_SDK_VERSION, systemClock } from '@tinkex/http';
import { isTelemetryEnabled } from '@tinkex/telemetry/reporter';
import { ConfigurationError, type JsonObject, type WireFormat } from '@tinkex/types';
import { readEnvironment } from '../environment.js';
import type { ClientLimits } from '../limits/client-limits.js';
import { rejectUnknownOptions } from '../runtime/reject-unknown-options.js';
import type { TokenizerOptions } from '../tokenizers/tokenizer-library.js';
import { DEFAULT_HEARTBEAT_INTERVAL_MS } from './heartbeat.js';
import type { ServerMessage, ServiceClientOptions } from './service-options.js';

/** The hosted service. */
const DEFAULT_BASE_URL = 'https://tinker.thinkingmachines.dev/services/tinker-prod';

/** The limit of the reference client's outer retry layer. */
const DEFAULT_MAX_RETRY_MS = 300_000;

/** Options with the environment and the defaults filled in. */
export interface ResolvedOptions
  extends Omit<
    ServiceClientOptions,
    'baseUrl' | 'tags' | 'wireFormat' | 'clock' | 'random' | 'sdkVersion' | 'telemetry' | 'heartbeatIntervalMs' | 'maxRetryMs' | 'limits'
  > {
  readonly baseUrl: string;
  readonly isHosted: boolean;
  readonly tags: readonly string[];
  readonly userMetadata: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly wireFormat: 'auto' | WireFormat;
  readonly clock: Clock;
  readonly random: Random;
  readonly sdkVersion: string;
  readonly isTelemetryEnabled: boolean;
  readonly heartbeatIntervalMs: number;
  readonly maxRetryMs: number;
  readonly limits: ClientLimits;
  readonly onServerMessage: (message: ServerMessage) => void;
}

/** Every option, so that a misspelled one is an error. */
const OPTION_NAMES: Readonly<Record<keyof ServiceClientOptions, true>> = {
  apiKey: true,
  credentialCommand: true,
  baseUrl: true,
  projectId: true,
  tags: true,
  userMetadata: true,
  attemptTimeoutMs: true,
  maxRetries: true,
  maxRetryMs: true,
  headers: true,
  query: true,
  transport: true,
  dispatcher: true,
  middleware: true,
  wireFormat: true,
  clock: true,
  random: true,
  sdkVersion: true,
  telemetry: true,
  publishContent: true,
  heartbeatIntervalMs: true,
  limits: true,
  tokenizer: true,
  onServerMessage: true,
};

const LIMIT_NAMES: Readonly<Record<keyof ClientLimits, true>> = {
  maxConcurrentPolls: true,
  maxDispatchBytes: true,
  maxReusedBodyBytes: true,
  maxResponseBytesInFlight: true,
  maxConcurrentSampleSubmissions: true,
  maxThrottledSampleSubmissions: true,
  maxPromptBytesInFlight: true,
  maxConcurrentSamples: true,
  maxSampleStartsPerTurn: true,
};

const TOKENIZER_NAMES: Readonly<Record<keyof TokenizerOptions, true>> = { load: true, directory: true, hubUrl: true };

/**
 * Checks the options and fills in the environment and the defaults. No I/O.
 *
 * @throws `ConfigurationError` naming the option and, where there is one, the environment variable.
 */
export function resolveOptions(options: ServiceClientOptions): ResolvedOptions {
  rejectUnknownOptions(options, OPTION_NAMES, '');
  rejectUnknownOptions(options.limits ?? {}, LIMIT_NAMES, 'limits.');
  rejectUnknownOptions(options.tokenizer ?? {}, TOKENIZER_NAMES, 'tokenizer.');
  const environment = readEnvironment();
  const baseUrl = requireBaseUrl(options.baseUrl || environment.baseUrl || DEFAULT_BASE_URL);
  const isHosted = baseUrl === normalizeBaseUrl(DEFAULT_BASE_URL);
  const apiKey = options.apiKey ?? environment.apiKey;
  const credentialCommand = options.credentialCommand ?? environment.credentialCommand;
  const projectId = options.projectId || environment.projectId;
  requirePositive(options.heartbeatIntervalMs, 'heartbeatIntervalMs');
  requireAtLeast(1, options.attemptTimeoutMs, 'attemptTimeoutMs');
  const { maxReusedBodyBytes, ...limits } = options.limits ?? {};
  // A limit below one would admit no call, ever.
  for (const [name, limit] of Object.entries(limits)) requireAtLeast(1, limit, `limits.${name}`);
  // These may be 0.
  if (maxReusedBodyBytes !== 0) requirePositive(maxReusedBodyBytes, 'limits.maxReusedBodyBytes');
  if (options.maxRetryMs !== 0) requirePositive(options.maxRetryMs, 'maxRetryMs');
  requireRetries(options.maxRetries);
  requireWireFormat(options.wireFormat);
  return {
    ...options,
    apiKey,
    credentialCommand,
    projectId,
    baseUrl,
    isHosted,
    tags: options.tags ?? environment.tags,
    userMetadata: options.userMetadata ?? {},
    headers: { ...environment.headers, ...options.headers },
    wireFormat: options.wireFormat ?? 'auto',
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    sdkVersion: options.sdkVersion ?? REFERENCE_SDK_VERSION,
    isTelemetryEnabled: isTelemetryEnabled({ baseUrl, option: options.telemetry, env: { TINKER_TELEMETRY: environment.telemetry } }),
    maxRetryMs: options.maxRetryMs ?? DEFAULT_MAX_RETRY_MS,
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? DEFAULT_HEARTBEAT_INTERVAL_MS,
    limits: options.limits ?? {},
    onServerMessage: options.onServerMessage ?? printMessage,
  };
}

function requireBaseUrl(url: string): string {
  try {
    return normalizeBaseUrl(url);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigurationError({
      message: `Option baseUrl: ${reason}`,
      option: 'baseUrl',
      environmentVariable: 'TINKER_BASE_URL',
      cause,
    });
  }
}

function requirePositive(value: unknown, option: string): void {
  if (value === undefined) return;
  if (typeof value !== 'number' || !(value > 0) || !Number.isFinite(value)) {
    throw new ConfigurationError({ message: `Option ${option} must be a positive number, got ${String(value)}.`, option });
  }
}

function requireAtLeast(least: number, value: unknown, option: string): void {
  requirePositive(value, option);
  if (typeof value === 'number' && value < least) {
    throw new ConfigurationError({ message: `Option ${option} must be ${least} or more, got ${value}.`, option });
  }
}

/** Any number from 0 up, including `Infinity`. */
function requireRetries(value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return;
  throw new ConfigurationError({ message: `Option maxRetries must be 0 or more, got ${String(value)}.`, option: 'maxRetries' });
}

function requireWireFormat(value: unknown): void {
  if (value === undefined || value === 'auto' || value === 'protobuf' || value === 'json') return;
  throw new ConfigurationError({
    message: `Option wireFormat must be auto, protobuf or json, got ${String(value)}.`,
    option: 'wireFormat',
  });
}

/** The default `onServerMessage`. Paused calls must not stay silent; informational messages do not belong into the output of a program. */
function printMessage({ level, text }: ServerMessage): void {
  if (level !== 'info') process.emitWarning(text, { type: 'TinkexWarning', code: `TINKEX_SERVER_${level.toUpperCase()}` });
}
