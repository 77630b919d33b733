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

/** Where a run is kept and trained. A run may continue in another place; it fails by itself where its checkpoints are not. */
const PLACES: readonly string[] = ['log_path', 'base_url'];

/** Which other settings a run was started with, in words; undefined when none has changed. */
export function describeChanges(previous: JsonRecord, current: JsonRecord): string | undefined {
  const changes = changesOf(previous, current, '').map(
    ([field, before, now]) => `${field} was ${JSON.stringify(before) ?? 'not set'} and is ${JSON.stringify(now) ?? 'not set'}`,
  );
  return changes.length === 0 ? undefined : `The run continues with other settings than it began with: ${changes.join('; ')}.`;
}

type Change = readonly [field: string, before: Json | undefined, now: Json | undefined];

function changesOf(previous: JsonRecord, current: JsonRecord, path: string): Change[] {
  return [...new Set([...Object.keys(previous), ...Object.keys(current)])].flatMap((key): Change[] => {
    if (path === '' && PLACES.includes(key)) return [];
    const [before, now] = [previous[key], current[key]];
    if (isRecord(before) && isRecord(now)) return changesOf(before, now, `${path}${key}.`);
    return JSON.stringify(before) === JSON.stringify(now) ? [] : [[path + key, before, now]];
  });
}

function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldAt(record: JsonRecord, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, key) => (value as JsonRecord | undefined)?.[key], record);
}
