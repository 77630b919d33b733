import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { JsonlReader, type JsonRecord, parseLenientJson } from '@tinkex/telemetry/runs';
import type { GroupText, RolloutsView, RolloutView } from '../api/activity-views.js';

const ITERATION = /^iteration_(\d+)$/;
const SUMMARIES = /^(\w+)_rollout_summaries\.jsonl$/;
/** Larger reports stay on the disk: a browser would not show them anyway. */
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/** An iteration that has rollouts. */
export interface Iteration {
  readonly iteration: number;
  readonly split: string;
}

/** The iterations of a run folder that have rollouts, in order. */
export async function listIterations(path: string): Promise<Iteration[]> {
  const folders = (await namesIn(path)).flatMap((name) => ITERATION.exec(name)?.[1] ?? []);
  const found = await Promise.all(
    folders.map(async (digits) => {
      const files = await namesIn(join(path, `iteration_${digits}`));
      return files.flatMap((file) => SUMMARIES.exec(file)?.[1] ?? []).map((split) => ({ iteration: Number(digits), split }));
    }),
  );
  return found.flat().sort((a, b) => a.iteration - b.iteration || a.split.localeCompare(b.split));
}

/** The rollouts of an iteration, with what was said in them if `hasContent`. */
export async function readRollouts(path: string, { iteration, split }: Iteration, hasContent: boolean): Promise<RolloutsView> {
  const folder = join(path, `iteration_${String(iteration).padStart(6, '0')}`);
  const { records } = await new JsonlReader(join(folder, `${split}_rollout_summaries.jsonl`)).readToEnd();
  const rewards = groupRewards(records);
  return {
    iteration,
    split,
    rollouts: records.map((record) => rolloutView(record, rewards, hasContent)),
    texts: hasContent ? await readTexts(join(folder, `${split}_logtree.json`)) : [],
  };
}

function groupRewards(records: readonly JsonRecord[]): Map<number, number[]> {
  const rewards = new Map<number, number[]>();
  for (const record of records) {
    const group = numberOf(record['group_idx']);
    rewards.set(group, [...(rewards.get(group) ?? []), numberOf(record['total_reward'])]);
  }
  return rewards;
}

function rolloutView(record: JsonRecord, rewards: ReadonlyMap<number, readonly number[]>, hasContent: boolean): RolloutView {
  const group = numberOf(record['group_idx']);
  const reward = numberOf(record['total_reward']);
  const ofGroup = rewards.get(group) ?? [reward];
  const steps = Array.isArray(record['steps']) ? (record['steps'] as readonly JsonRecord[]) : [];
  return {
    group,
    trajectory: numberOf(record['traj_idx']),
    reward,
    // Rounded, because a mean of equal rewards may differ from them in the last bit.
    advantage: Number((reward - ofGroup.reduce((sum, one) => sum + one, 0) / ofGroup.length).toFixed(9)),
    tags: Array.isArray(record['tags']) ? record['tags'].map(String) : [],
    metrics: numbersOf(record['trajectory_metrics']),
    turns: steps.map((step) => ({
      promptTokens: numberOf(step['ob_len']),
      answerTokens: numberOf(step['ac_len']),
      reward: numberOf(step['reward']),
      metrics: numbersOf(step['metrics']),
      // Logs are texts of the environment: a question, an answer.
      logs: hasContent ? textsOf(step['logs']) : {},
    })),
  };
}

/** The reference's report of an iteration as a list of headings, texts and messages. Empty if there is none. */
async function readTexts(file: string): Promise<GroupText[]> {
  try {
    const { size } = await stat(file);
    if (size > MAX_REPORT_BYTES) return [{ kind: 'text', text: `The report is too large to show (${size} bytes): ${file}` }];
    const tree = parseLenientJson(await readFile(file, 'utf8')) as { readonly root?: unknown };
    return [...flatten(tree.root)];
  } catch {
    // There is no report, or it is still being written.
    return [];
  }
}

function* flatten(node: unknown): Generator<GroupText> {
  if (typeof node === 'string') {
    if (node.trim() !== '') yield { kind: 'text', text: node };
    return;
  }
  const { tag, children, data } = (node ?? {}) as { tag?: string; children?: readonly unknown[]; data?: JsonRecord };
  if (data?.['type'] === 'conversation' && Array.isArray(data['messages'])) {
    yield* (data['messages'] as readonly JsonRecord[]).map(messageText);
    return;
  }
  const level = /^h([1-6])$/.exec(tag ?? '')?.[1];
  if (level !== undefined) yield { kind: 'heading', level: Number(level), text: textIn(node) };
  else if (tag === 'p' || tag === 'pre' || tag === 'table') yield { kind: 'text', text: textIn(node) };
  else for (const child of children ?? []) yield* flatten(child);
}

function messageText(message: JsonRecord): GroupText {
  const { role, content, tool_calls: calls } = message;
  return {
    kind: 'message',
    role: typeof role === 'string' ? role : 'unknown',
    text: typeof content === 'string' ? content : JSON.stringify(content ?? ''),
    toolCalls: (Array.isArray(calls) ? calls : []).map((call) => JSON.stringify(call)),
  };
}

function textIn(node: unknown): string {
  if (typeof node === 'string') return node;
  const { tag, children = [] } = (node ?? {}) as { tag?: string; children?: readonly unknown[] };
  const text = children.map(textIn).join(tag === 'tr' ? '  ' : '');
  return tag === 'tr' ? `${text}\n` : text;
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch {
    // No such folder: nothing in it.
    return [];
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function numbersOf(value: unknown): Record<string, number> {
  return Object.fromEntries(Object.entries(value ?? {}).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, text]) => [name, typeof text === 'string' ? text : JSON.stringify(text)]),
  );
}
