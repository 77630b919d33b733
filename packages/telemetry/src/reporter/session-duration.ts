/**
 * A duration as the service expects it in `SESSION_END`: the text of a Python time difference, such as `0:05:23.123456` or
 * `1 day, 2:03:04`. Not ISO 8601, although the API's type says so.
 */
export function sessionDuration(durationMs: number): string {
  const microseconds = Math.max(0, Math.round(durationMs * 1_000));
  const fraction = microseconds % 1_000_000;
  const seconds = Math.floor(microseconds / 1_000_000);
  const days = Math.floor(seconds / 86_400);
  const two = (value: number) => String(value).padStart(2, '0');
  const dayText = days === 0 ? '' : `${days} day${days === 1 ? '' : 's'}, `;
  const fractionText = fraction === 0 ? '' : `.${String(fraction).padStart(6, '0')}`;
  return `${dayText}${Math.floor((seconds % 86_400) / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fractionText}`;
}
