import type { RandomStream } from '../random.js';
import type { ChoiceSettings } from '../token-choice.js';
import type { BaseDistribution } from './base-distribution.js';
import { CLASSES } from './base-distribution.js';
import type { Candidates } from './candidates.js';
import type { PairTable } from './pair-table.js';

/** A distribution after a forward pass: candidates, tokens with a separate weight, and the rest by class. */
export interface TokenOdds {
  readonly base: BaseDistribution;
  readonly candidates: Candidates;
  readonly adapter: { readonly tokens: PairTable | undefined } | undefined;
  readonly total: number;
  readonly shift: number;
  logit(token: number): number;
  plainLogit(token: number): number;
}

/** A run of tokens with equal odds: one token, or the first ones of a class that nothing else is known about. */
interface Group {
  readonly logit: number;
  readonly count: number;
  /** `count` before any was left out. */
  readonly size: number;
  /** The token; -1 for a class. */
  readonly token: number;
  readonly own: number;
}

/** How often a token is drawn before its class is walked through. */
const MAX_ATTEMPTS = 64;

/** Draws one token: temperature, then top-k, then top-p. At temperature 0 it is the most likely one. */
export function drawToken(odds: TokenOdds, { temperature, topK, topP }: ChoiceSettings, random: RandomStream): number {
  if (temperature === 0) return likelyTokens(odds, 1)[0] as number;
  const isWhole = topK < 1 && topP === 1;
  const early = isWhole && temperature === 1 ? drawCandidate(odds, random) : undefined;
  if (early !== undefined && early >= 0) return early;
  // Once it is clear that no candidate was drawn, the others keep their relative odds.
  const groups =
    early === undefined ? allGroups(odds) : allGroups(odds).filter(({ token }) => token < 0 || odds.candidates.find(token) < 0);
  if (!isWhole) groups.sort(byOdds);
  const largest = groups.reduce((most, { logit }) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const weigh = ({ logit }: Group) => Math.exp((logit - largest) / temperature);
  const kept = isWhole ? groups : truncate(groups, weigh, topK, topP);
  let left = random() * kept.reduce((sum, group) => sum + group.count * weigh(group), 0);
  let last = kept[0] as Group;
  for (const group of kept) {
    last = group;
    left -= group.count * weigh(group);
    if (left < 0) break;
  }
  return last.token >= 0 ? last.token : blankToken(odds, last, random);
}

/** The `count` most likely tokens, in order. */
export function likelyTokens(odds: TokenOdds, count: number): Int32Array {
  const wanted = Math.min(count, odds.base.vocabularySize);
  const tokens = new Int32Array(wanted);
  let found = 0;
  for (const group of allGroups(odds).sort(byOdds)) {
    if (found === wanted) break;
    for (const token of group.token >= 0 ? [group.token] : blanks(odds, group.own)) {
      if (found === wanted) break;
      tokens[found++] = token;
    }
  }
  return tokens;
}

/** The log-probability of a token when logits are divided by `temperature`; at 0, as at 1. */
export function temperedLogprob(odds: TokenOdds, token: number, temperature: number): number {
  const divisor = temperature === 0 ? 1 : temperature;
  const groups = allGroups(odds);
  const largest = groups.reduce((most, { logit }) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const total = groups.reduce((sum, { logit, count }) => sum + count * Math.exp((logit - largest) / divisor), 0);
  return (odds.logit(token) - largest) / divisor - Math.log(total);
}

/** A candidate, or -1 when the draw falls on the other tokens. The usual case after training, without a look at the rest. */
function drawCandidate({ candidates, total }: TokenOdds, random: RandomStream): number {
  let left = random() * total;
  for (let place = 0; place < candidates.count; place++) {
    left -= candidates.exponentials[place] as number;
    if (left < 0) return candidates.tokens[place] as number;
  }
  return -1;
}

function allGroups(odds: TokenOdds): Group[] {
  const { base, candidates, adapter } = odds;
  const blanks = base.counts.slice();
  const groups: Group[] = [];
  const single = (token: number, logit: number) => {
    const own = base.classOf(token);
    blanks[own] = (blanks[own] as number) - 1;
    groups.push({ token, logit, own, count: 1, size: 1 });
  };
  for (let place = 0; place < candidates.count; place++) single(candidates.tokens[place] as number, candidates.logits[place] as number);
  const table = adapter?.tokens;
  for (let pair = 0; pair < (table?.count ?? 0); pair++) {
    const token = table?.tokens[pair] as number;
    if (candidates.find(token) < 0) single(token, odds.plainLogit(token));
  }
  for (let own = 0; own < CLASSES; own++) {
    const count = blanks[own] as number;
    if (count > 0) groups.push({ token: -1, own, count, size: count, logit: base.logits[own] as number });
  }
  return groups;
}

/** From most to least likely; single tokens before classes, lower ids first. */
function byOdds(left: Group, right: Group): number {
  return right.logit - left.logit || Number(left.token < 0) - Number(right.token < 0) || left.token - right.token || left.own - right.own;
}

/** Keeps the most likely tokens: `topK` of them, then the fewest that reach the share `topP`. */
function truncate(groups: readonly Group[], weigh: (group: Group) => number, topK: number, topP: number): Group[] {
  const limited: Group[] = [];
  let room = topK >= 1 ? topK : Number.POSITIVE_INFINITY;
  for (const group of groups) {
    if (room <= 0) break;
    limited.push({ ...group, count: Math.min(group.count, room) });
    room -= group.count;
  }
  if (topP >= 1) return limited;
  let missing = topP * limited.reduce((sum, group) => sum + group.count * weigh(group), 0);
  const kept: Group[] = [];
  for (const group of limited) {
    if (missing <= 0) break;
    const weight = weigh(group);
    const count = Math.min(group.count, Math.max(1, Math.ceil(missing / weight)));
    kept.push({ ...group, count });
    missing -= count * weight;
  }
  return kept;
}

/** One of the tokens of a class that nothing is known about. */
function blankToken(odds: TokenOdds, { own, count, size }: Group, random: RandomStream): number {
  const blocks = Math.ceil(odds.base.vocabularySize / CLASSES);
  // Few tokens of a class are known, as a rule: draw until one is not. A vocabulary that is nearly used up is walked through instead.
  for (let attempt = 0; attempt < MAX_ATTEMPTS && count === size; attempt++) {
    const token = odds.base.member(own, Math.floor(random() * blocks));
    if (isBlank(odds, token)) return token;
  }
  let left = Math.floor(random() * count);
  for (const token of blanks(odds, own)) if (left-- === 0) return token;
  throw new Error('The class has fewer tokens than it was counted to have.');
}

/** The tokens of a class that nothing is known about, from the lowest id. */
function* blanks(odds: TokenOdds, own: number): Generator<number> {
  const blocks = Math.ceil(odds.base.vocabularySize / CLASSES);
  for (let block = 0; block < blocks; block++) {
    const token = odds.base.member(own, block);
    if (isBlank(odds, token)) yield token;
  }
}

function isBlank({ base, candidates, adapter }: TokenOdds, token: number): boolean {
  return token < base.vocabularySize && candidates.find(token) < 0 && (adapter?.tokens?.first(token) ?? -1) < 0;
}
