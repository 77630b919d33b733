import { systemClock } from '@tinkex/http/clock';
import { ConfigurationError } from '@tinkex/types';
import type { Dialect } from '../dialects/dialect.js';
import { DIALECTS, type DialectName } from '../dialects/presets.js';
import { serverFlags } from './server-flags.js';
import type { ControlOptions, JwtOptions, ServerSettings, TestServerOptions } from './server-options.js';

const MEBIBYTE = 1 << 20;
const MIN_TOKEN_LENGTH = 16;

/** Fills in the defaults. Throws `ConfigurationError` for an unknown dialect or a negative limit. */
export function serverSettings(options: TestServerOptions): ServerSettings {
  const dialect = resolveDialect(options.dialect ?? 'hosted');
  const { executionMs = 0 } = options;
  const flags = serverFlags(options.flags ?? {});
  const settings: ServerSettings = {
    dialect,
    clock: options.clock ?? systemClock,
    apiKeys: options.apiKeys,
    basePath: normalizedBasePath(options.basePath ?? ''),
    config: options.config ?? {},
    flags,
    refreshIntervalSec: options.refreshIntervalSec ?? 300,
    jwt: jwtSettings(options.jwt ?? flags.config['pjwt_auth_enabled'] === true),
    longPollMs: options.longPollMs ?? dialect.longPollMs ?? 20_000,
    metadataOnlyBytes: options.metadataOnlyBytes ?? 8 * MEBIBYTE,
    retentionMs: options.retentionMs ?? 900_000,
    sessionTtlMs: options.sessionTtlMs ?? 600_000,
    seqGapMs: options.seqGapMs ?? 300_000,
    executionMs: typeof executionMs === 'function' ? executionMs : () => executionMs,
    maxBodyBytes: options.maxBodyBytes ?? 256 * MEBIBYTE,
    recorderLimit: options.recorderLimit ?? 10_000,
    ignoreRules: options.ignoreRules ?? [],
    isStrict: options.strict ?? true,
    projects: options.projects === undefined ? undefined : new Set(options.projects),
    archiveBuildMs: options.archiveBuildMs ?? 0,
    clockSkewMs: options.clockSkewMs ?? 0,
    durability: options.durability ?? 'relaxed',
    control: controlSettings(options.control),
  };
  for (const name of [
    'longPollMs',
    'metadataOnlyBytes',
    'retentionMs',
    'sessionTtlMs',
    'seqGapMs',
    'maxBodyBytes',
    'recorderLimit',
  ] as const) {
    if (!(settings[name] >= 0)) {
      throw new ConfigurationError({ message: `The option ${name} must be a number >= 0, got ${settings[name]}.`, option: name });
    }
  }
  return settings;
}

function resolveDialect(dialect: DialectName | Dialect): Dialect {
  if (typeof dialect !== 'string') return dialect;
  const preset: Dialect | undefined = Object.hasOwn(DIALECTS, dialect) ? DIALECTS[dialect] : undefined;
  if (preset === undefined) {
    throw new ConfigurationError({
      message: `There is no dialect ${JSON.stringify(dialect)}; choose one of ${Object.keys(DIALECTS).join(', ')}.`,
      option: 'dialect',
    });
  }
  return preset;
}

function controlSettings(control: ControlOptions | undefined): ServerSettings['control'] {
  if (control === undefined) return undefined;
  const { token, allowRemote = false } = control;
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new ConfigurationError({
      message: `The control token must have at least ${MIN_TOKEN_LENGTH} characters.`,
      option: 'control.token',
    });
  }
  return { token, allowRemote };
}

function jwtSettings(jwt: boolean | JwtOptions): ServerSettings['jwt'] {
  if (jwt === false) return undefined;
  const { lifetimeSec = 3600, email, orgId = 'testkit' } = jwt === true ? {} : jwt;
  return { lifetimeSec, email, orgId: orgId ?? undefined };
}

function normalizedBasePath(path: string): string {
  const trimmed = path.replace(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `/${trimmed}`;
}
