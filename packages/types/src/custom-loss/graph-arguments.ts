import { describe } from '../errors/issue-text.js';
import { isPlainObject } from '../json/json-value.js';
import type { CustomLossArgument } from './custom-loss-graph.js';

/** How deeply arguments may nest. */
const MAX_DEPTH = 32;

const isText = (value: unknown): boolean => typeof value === 'string';
const isList = (value: unknown): boolean => Array.isArray(value);

/** What the content of each kind of one-key object must be. */
const KINDS: ReadonlyMap<string, (content: unknown) => boolean> = new Map([
  ['ref', isText],
  ['tuple', isList],
  ['dict', isPlainObject],
  ['slice', (content) => Array.isArray(content) && content.length === 3],
  ['ellipsis', (content) => content === true],
  ['float', (content) => content === 'inf' || content === '-inf' || content === 'nan'],
  ['dtype', isText],
  ['device', isText],
  ['layout', isText],
  ['memory_format', isText],
]);

/** Says why a value is not an argument of a node, or undefined when it is one. */
export function argumentProblem(value: unknown, depth = 0): string | undefined {
  if (depth > MAX_DEPTH) return `nests more than ${MAX_DEPTH} levels deep`;
  // JSON has no other way to write a large float than as an integer, which is read as a bigint.
  if (value === null || ['string', 'boolean', 'bigint'].includes(typeof value) || Number.isFinite(value)) return undefined;
  if (Array.isArray(value)) return firstProblem(value, depth);
  if (!isPlainObject(value)) return `must be a JSON value with finite numbers, got ${describe(value)}`;
  const [[kind, content] = ['', undefined], ...more] = Object.entries(value);
  const isKind = KINDS.get(kind);
  if (isKind === undefined || more.length > 0) return `must be an object with exactly one of ${[...KINDS.keys()].join(', ')}`;
  if (!isKind(content)) return `has an invalid ${kind}`;
  if (kind === 'tuple' || kind === 'slice') return firstProblem(content as unknown[], depth);
  return kind === 'dict' ? firstProblem(Object.values(content as object), depth) : undefined;
}

function firstProblem(values: readonly unknown[], depth: number): string | undefined {
  for (const value of values) {
    const problem = argumentProblem(value, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The names of all nodes that an argument refers to. */
export function referencesOf(argument: CustomLossArgument): readonly string[] {
  if (argument === null || typeof argument !== 'object') return [];
  if (isArgumentList(argument)) return argument.flatMap(referencesOf);
  if ('ref' in argument) return [argument.ref];
  if ('tuple' in argument) return argument.tuple.flatMap(referencesOf);
  if ('slice' in argument) return argument.slice.flatMap(referencesOf);
  return 'dict' in argument ? Object.values(argument.dict).flatMap(referencesOf) : [];
}

/** `Array.isArray` does not narrow read-only arrays. */
export function isArgumentList(argument: CustomLossArgument | undefined): argument is readonly CustomLossArgument[] {
  return Array.isArray(argument);
}
