/** What {@link isTelemetryEnabled} decides by. */
export interface TelemetrySwitchOptions {
  readonly baseUrl: string;
  /** The environment to read `TINKER_TELEMETRY` from. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The user's option; beats the environment. */
  readonly option?: boolean | undefined;
}

const onTexts = new Set(['1', 'true', 'yes', 'on']);
const hostedDomain = 'thinkingmachines.dev';

/**
 * Whether a client may report to the service it talks to. The option decides if given; then `TINKER_TELEMETRY` if set (`1`, `true`,
 * `yes`, `on` in any letter case mean yes, anything else, the empty text too, means no); else only the hosted service is reported to:
 * somebody's own server did not ask for it. Never throws: an unusable base URL means no.
 */
export function isTelemetryEnabled({ baseUrl, env = {}, option }: TelemetrySwitchOptions): boolean {
  if (option !== undefined) return option;
  const text = env['TINKER_TELEMETRY'];
  if (text !== undefined) return onTexts.has(text.toLowerCase());
  return isHostedService(baseUrl);
}

function isHostedService(baseUrl: string): boolean {
  let hostname: string;
  try {
    hostname = new URL(baseUrl).hostname;
  } catch {
    return false;
  }
  return hostname === hostedDomain || hostname.endsWith(`.${hostedDomain}`);
}
