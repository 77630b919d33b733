import type { CheckpointRecord, JsonRecord } from '@tinkex/telemetry/runs';
import type { CheckpointView } from '../api/run-views.js';
import type { MetricTable } from '../metrics/metric-table.js';

/** What `config.json` says about the model. Both spellings: the reference writes `model_name`, programs may write their own. */
export function modelOf(config: JsonRecord | undefined): { model?: string | undefined; rank?: number | undefined } {
  const model = config?.['model_name'] ?? config?.['model'];
  const rank = config?.['lora_rank'] ?? config?.['rank'];
  return { model: typeof model === 'string' ? model : undefined, rank: typeof rank === 'number' ? rank : undefined };
}

/** How many steps the run will have, from the fraction that it says is done. */
export function totalStepsOf(metrics: MetricTable): number | undefined {
  const progress = metrics.get('progress') ?? metrics.get('progress/done_frac');
  if (progress === undefined || progress.length === 0 || progress.last <= 0) return undefined;
  const steps = (progress.steps.at(-1) ?? 0) + 1;
  return Math.max(steps, Math.round(steps / progress.last));
}

/** How long a step takes, if the run measures it. */
export function stepMsOf(metrics: MetricTable): number | undefined {
  const seconds = (metrics.get('time/total') ?? metrics.get('time/step'))?.last;
  return seconds === undefined || Number.isNaN(seconds) ? undefined : seconds * 1_000;
}

/** A line of `checkpoints.jsonl` as the page shows it. */
export function checkpointView(record: CheckpointRecord, config: JsonRecord | undefined): CheckpointView {
  const { name, statePath, samplerPath, final, extra } = record;
  const ttl = extra['ttl_seconds'] ?? config?.['ttl_seconds'];
  return {
    name,
    step: /^\d+$/.test(name) ? Number(name) : undefined,
    statePath,
    samplerPath,
    ttlSeconds: typeof ttl === 'number' && final !== true && name !== 'final' ? ttl : undefined,
    isFinal: final === true || name === 'final',
  };
}
