import type { Json, JsonRecord } from '@tinkex/telemetry/runs';
import { ConfigurationError } from '@tinkex/types';

/**
 * @param fields - What may not change when a run continues, because the order of the batches or the weights depend on it.
 * @throws ConfigurationError when a run would continue with other data or another model than it began with.
 */
export function checkSameRun(previous: JsonRecord, current: JsonRecord, fields: readonly string[]): void {
  for (const field of fields) {
    const before = fieldAt(previous, field);
    const now = fieldAt(current, field);
    if (before === undefined || before === null || before === now) continue;
    throw new ConfigurationError({
      option: 'logPath',
      message: `The run in ${String(current.log_path)} was started with ${field} ${String(before)}, and now it is ${String(now)}. Use the same value, or another logPath.`,
    });
  }
}

function fieldAt(record: JsonRecord, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, key) => (value as JsonRecord | undefined)?.[key], record);
}
