import { type Clock, normalizeBaseUrl, type Random, REFERENCE_SDK_VERSION, readStoredKey, systemClock } from '@tinkex/http';
import { emitWarning } from '@tinkex/http/runtime';
import { isTelemetryEnabled } from '@tinkex/telemetry/reporter';
import { ConfigurationError } from '@tinkex/types';
import type { TinkerEnvironment } from '../environment.js';
import { rejectUnknownOptions } from '../runtime/reject-unknown-options.js';
import type { ConnectionOptions, DownloadRules, ServerMessage } from './connection-options.js';
import { requireAtLeast, requirePositive } from './option-checks.js';

/** The hosted service. */
const DEFAULT_BASE_URL = 'https://tinker.thinkingmachines.dev/services/tinker-prod';

/** The limit of the reference client's outer retry layer. */
const DEFAULT_MAX_RETRY_MS = 300_000;

/** Options with the environment and the defaults filled in. */
export interface ResolvedConnectionOptions
  extends Omit<ConnectionOptions, 'baseUrl' | 'clock' | 'random' | 'sdkVersion' | 'telemetry' | 'maxRetryMs'> {
  readonly baseUrl: string;
  readonly isHosted: boolean;
  /** The default key of the credentials file, if that is what remains. */
  readonly storedApiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly sdkVersion: string;
  readonly isTelemetryEnabled: boolean;
  readonly maxRetryMs: number;
  readonly onServerMessage: (message: ServerMessage) => void;
}

/** Every option of a connection, so that a misspelled one is an error. */
export const CONNECTION_OPTION_NAMES: Readonly<Record<keyof ConnectionOptions, true>> = {
  apiKey: true,
  credentialCommand: true,
  baseUrl: true,
  attemptTimeoutMs: true,
  maxRetries: true,
  maxRetryMs: true,
  headers: true,
  query: true,
  transport: true,
  dispatcher: true,
  downloads: true,
  middleware: true,
  clock: true,
  random: true,
  sdkVersion: true,
  telemetry: true,
  onServerMessage: true,
};

const DOWNLOAD_RULE_NAMES: Readonly<Record<keyof DownloadRules, true>> = { allowPrivateAddresses: true };

/**
 * Checks the options and fills in the environment and the defaults. Makes no request. Reads the credentials file only for the hosted
 * service, and only if neither a key nor a command is set: a key of the service must not go to another server unasked.
 *
 * @throws `ConfigurationError` naming the option and, where there is one, the environment variable.
 */
export function resolveConnectionOptions(options: ConnectionOptions, environment: TinkerEnvironment): ResolvedConnectionOptions {
  const baseUrl = requireBaseUrl(options.baseUrl || environment.baseUrl || DEFAULT_BASE_URL);
  const isHosted = baseUrl === normalizeBaseUrl(DEFAULT_BASE_URL);
  const apiKey = options.apiKey || environment.apiKey;
  const credentialCommand = options.credentialCommand ?? environment.credentialCommand;
  requireAtLeast(1, options.attemptTimeoutMs, 'attemptTimeoutMs');
  // This one may be 0.
  if (options.maxRetryMs !== 0) requirePositive(options.maxRetryMs, 'maxRetryMs');
  requireRetries(options.maxRetries);
  requireOwnTransport(options);
  const file = isHosted && !apiKey && !credentialCommand ? environment.readCredentialsFile() : undefined;
  return {
    ...options,
    apiKey,
    credentialCommand,
    storedApiKey: file === undefined ? undefined : readStoredKey(file),
    baseUrl,
    isHosted,
    headers: { ...environment.headers, ...options.headers },
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    sdkVersion: options.sdkVersion ?? REFERENCE_SDK_VERSION,
    isTelemetryEnabled: isTelemetryEnabled({ baseUrl, option: options.telemetry, env: { TINKER_TELEMETRY: environment.telemetry } }),
    maxRetryMs: options.maxRetryMs ?? DEFAULT_MAX_RETRY_MS,
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

/** Any number from 0 up, including `Infinity`. */
function requireRetries(value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return;
  throw new ConfigurationError({ message: `Option maxRetries must be 0 or more, got ${String(value)}.`, option: 'maxRetries' });
}

/** The user's transport connects by its own rules. */
function requireOwnTransport({ downloads = {}, transport, dispatcher }: ConnectionOptions): void {
  rejectUnknownOptions(downloads, DOWNLOAD_RULE_NAMES, 'downloads.');
  if (downloads.allowPrivateAddresses !== false || (transport === undefined && dispatcher === undefined)) return;
  const message = 'Option downloads.allowPrivateAddresses: false needs the built-in transport. Leave out transport and dispatcher.';
  throw new ConfigurationError({ message, option: 'downloads.allowPrivateAddresses' });
}

/** The default `onServerMessage`. Paused calls must not stay silent; informational messages do not belong into the output of a program. */
function printMessage({ level, text }: ServerMessage): void {
  if (level !== 'info') emitWarning(text, { type: 'TinkexWarning', code: `TINKEX_SERVER_${level.toUpperCase()}` });
}
