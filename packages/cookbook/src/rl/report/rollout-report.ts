import type { DecodingTokenizer } from '../../evaluation/loss-metrics.js';
import { computeAdvantages } from '../advantages.js';
import { type TrajectoryGroup, totalRewards } from '../rollouts/trajectory.js';
import { caption, conversation, paragraph, type ReportMessage, type ReportNode, report, section, valueTable } from './report-tree.js';

/** How many episodes of a group are shown. */
const SHOWN_EPISODES = 8;

/** What a report shows. */
export interface RolloutReportOptions {
  readonly title: string;
  readonly startedAt: string;
  /** How many groups are shown, the first ones. */
  readonly numGroups: number;
  readonly tokenizer: DecodingTokenizer;
}

/** The episodes of an iteration to read: prompts, answers, rewards. Of large groups, episodes from the worst to the best. */
export function rolloutReport(
  groups: readonly TrajectoryGroup[],
  { title, startedAt, numGroups, tokenizer }: RolloutReportOptions,
): ReportNode {
  const shown = groups.slice(0, numGroups);
  const intro = paragraph(`${shown.length} of ${groups.length} groups.`);
  return report(title, startedAt, [intro, ...shown.map((group, index) => groupSection(group, index, tokenizer))]);
}

function groupSection(group: TrajectoryGroup, index: number, tokenizer: DecodingTokenizer): ReportNode {
  const rewards = totalRewards(group);
  const advantages = computeAdvantages([group])[0] ?? [];
  const episodes = rewards.length <= SHOWN_EPISODES ? [...rewards.keys()] : representativeIndices(rewards, SHOWN_EPISODES);
  const tags = group.tags.length === 0 ? '' : ` (${group.tags.join(', ')})`;
  return section(2, `Group ${index}${tags}`, [
    ...episodes.map((episode) => {
      const { stopReason = 'none' } = group.trajectories[episode] ?? {};
      const facts = {
        reward: round(rewards[episode]),
        advantage: round(advantages[episode]),
        'final reward': round(group.finalRewards[episode]),
        'stop reason': stopReason,
        ...roundAll(group.finalMetrics[episode] ?? {}),
      };
      return section(3, `Episode ${episode}`, [...turns(group, episode, tokenizer), caption('Episode'), valueTable(facts)]);
    }),
  ]);
}

function turns({ trajectories }: TrajectoryGroup, episode: number, tokenizer: DecodingTokenizer): ReportNode[] {
  let before = '';
  return (trajectories[episode]?.transitions ?? []).map(({ observation, action, reward, metrics, logs }, turn) => {
    const seen = textOf(observation.chunks, tokenizer);
    // What the model has not seen in the turn before.
    const news = seen.startsWith(before) ? seen.slice(before.length) : seen;
    const said = tokenizer.decode(action.tokens);
    before = seen + said;
    const messages: ReportMessage[] = [
      { role: 'prompt', content: news },
      { role: 'model', content: said },
    ];
    const facts = { reward: round(reward), tokens: action.tokens.length, ...roundAll(metrics), ...roundAll(logs) };
    return section(4, `Turn ${turn + 1}`, [conversation(messages), valueTable(facts)]);
  });
}

function textOf(chunks: TrajectoryGroup['trajectories'][number]['finalObservation']['chunks'], tokenizer: DecodingTokenizer): string {
  return chunks.map((chunk) => (chunk.type === 'encoded_text' ? tokenizer.decode(chunk.tokens) : `[${chunk.type}]`)).join('');
}

function roundAll(values: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? round(value) : value]));
}

function round(value: number | undefined): string {
  return value === undefined ? '' : String(Number(value.toFixed(3)));
}

/** The positions of scores that are spread evenly from the worst to the best. Of equal scores, later ones count as worse. */
export function representativeIndices(scores: readonly number[], count: number): number[] {
  const order = [...scores.keys()].sort((a, b) => (scores[a] as number) - (scores[b] as number) || b - a);
  if (count <= 1) return order.slice(0, count);
  return Array.from({ length: count }, (_, index) => order[Math.floor((index * (scores.length - 1)) / (count - 1))] as number);
}
