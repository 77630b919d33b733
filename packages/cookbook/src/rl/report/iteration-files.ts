import type { RunWriter } from '@tinkex/telemetry/runs';
import { checkpointName } from '../../checkpoints/save-policy.js';
import { rolloutSummaries } from '../rollouts/rollout-summaries.js';
import type { TrajectoryGroup } from '../rollouts/trajectory.js';
import { reportHtml } from './report-html.js';
import { reportJson } from './report-tree.js';
import { type RolloutReportOptions, rolloutReport } from './rollout-report.js';

/** What is written about the episodes of an iteration. */
export interface IterationFiles extends Pick<RolloutReportOptions, 'tokenizer'> {
  readonly iteration: number;
  /** What the names of the files begin with. */
  readonly prefix: string;
  /** What the records call it. */
  readonly split: string;
  readonly groups: readonly TrajectoryGroup[];
  /** Whether each episode becomes a line of `<prefix>_rollout_summaries.jsonl`. */
  readonly hasSummaries: boolean;
  /** How many groups `<prefix>.html` and `<prefix>_logtree.json` show; 0 for no report. */
  readonly numGroupsToLog: number;
  /** Wall time. */
  readonly nowMs: number;
}

/** Writes `iteration_NNNNNN/`: all episodes as records, and some of them to read. */
export async function writeIteration(writer: RunWriter, files: IterationFiles): Promise<void> {
  const { iteration, prefix, split, groups, hasSummaries, numGroupsToLog, nowMs, tokenizer } = files;
  const path = `iteration_${checkpointName(iteration)}/${fileNamePart(prefix)}`;
  if (hasSummaries) await writer.replace(`${path}_rollout_summaries.jsonl`, rolloutSummaries(groups, { split, iteration }));
  if (numGroupsToLog === 0 || groups.length === 0) return;
  const title = `${split === 'train' ? 'RL' : `RL ${split}`} iteration ${iteration}`;
  const startedAt = new Date(nowMs).toISOString().slice(0, 19);
  const root = rolloutReport(groups, { title, startedAt, numGroups: numGroupsToLog, tokenizer });
  await writer.replaceText(`${path}.html`, reportHtml(title, root));
  await writer.replace(`${path}_logtree.json`, [reportJson(title, startedAt, `${path}.html`, root)]);
}

/** A name as a part of a file name. */
export function fileNamePart(name: string): string {
  const safe = name.replace(/[^\w.-]/g, '_');
  return /^\.*$/.test(safe) ? 'unnamed' : safe;
}
