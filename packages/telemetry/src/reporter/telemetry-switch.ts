/** Options of {@link isTelemetryEnabled}. */
export interface TelemetrySwitchOptions {
  readonly baseUrl: string;
  /** The environment to read `TINKER_TELEMETRY` from. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The user's option. Takes precedence over the environment. */
  readonly option?: boolean | undefined;
}

const ON_TEXTS = new Set(['1', 'true', 'yes', 'on']);
const HOSTED_DOMAIN = 'thinkingmachines.dev';

/**
 * Whether a client may report to the service it talks to. The option decides if it is set; then `TINKER_TELEMETRY` if it is set (`1`,
 * `true`, `yes` and `on` in any letter case mean yes, anything else, even an empty text, means no). Otherwise only the hosted service gets
 * reports: a self-hosted server did not ask for them. Never throws: an invalid base URL means no.
 */
export function isTelemetryEnabled({ baseUrl, env = {}, option }: TelemetrySwitchOptions): boolean {
  if (option !== undefined) return option;
  const text = env['TINKER_TELEMETRY'];
  if (text !== undefined) return ON_TEXTS.has(text.toLowerCase());
  return isHostedService(baseUrl);
}

function isHostedService(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { hostname } = new URL(baseUrl);
  return hostname === HOSTED_DOMAIN || hostname.endsWith(`.${HOSTED_DOMAIN}`);
}
