import { describe, expect, it } from 'vitest';
import { isTelemetryEnabled } from './telemetry-switch.js';

const hosted = 'https://tinker.thinkingmachines.dev/services/tinker-prod';
const own = 'http://127.0.0.1:8000';

describe('isTelemetryEnabled', () => {
  it.each([
    [hosted, true],
    ['https://TINKER.thinkingmachines.dev', true],
    [own, false],
    ['https://thinkingmachines.dev.evil.example', false],
    ['https://notthinkingmachines.dev', false],
    ['no url at all', false],
  ])('by default reports to the hosted service only: %s -> %s', (baseUrl, expected) => {
    expect(isTelemetryEnabled({ baseUrl })).toBe(expected);
    expect(isTelemetryEnabled({ baseUrl, env: {} })).toBe(expected);
  });

  it.each(['1', 'true', 'TRUE', 'Yes', 'on'])('is on everywhere with TINKER_TELEMETRY=%s', (text) => {
    expect(isTelemetryEnabled({ baseUrl: own, env: { TINKER_TELEMETRY: text } })).toBe(true);
  });

  it.each(['', '0', 'false', 'no', 'off', ' 1', 'maybe'])('is off everywhere with TINKER_TELEMETRY="%s"', (text) => {
    expect(isTelemetryEnabled({ baseUrl: hosted, env: { TINKER_TELEMETRY: text } })).toBe(false);
  });

  it('lets the option beat the environment', () => {
    expect(isTelemetryEnabled({ baseUrl: own, env: { TINKER_TELEMETRY: '0' }, option: true })).toBe(true);
    expect(isTelemetryEnabled({ baseUrl: hosted, env: { TINKER_TELEMETRY: '1' }, option: false })).toBe(false);
  });
});
