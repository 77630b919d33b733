import { describe, joinPath } from '../errors/issue-text.js';
import { ValidationError, type ValidationIssue } from '../errors/validation-error.js';
import type { Datum } from './datum.js';

/** A run of tokens that a sequence has in common with a datum: tokens of its prompt, or tokens that it sampled. */
export interface ProvenanceSpan {
  readonly kind: 'prompt' | 'sampled';
  /** The `sequenceId` of a sampled sequence. */
  readonly sequenceId: string;
  /** Position of the run's first token in the prompt, or among the sampled tokens. Default 0. */
  readonly offset?: number | undefined;
  /** Tokens in the run; may be 0. */
  readonly length: number;
}

/** Where the tokens of a datum come from. The runs of each list follow one another and cover their field completely. */
export interface Provenance {
  /** Runs that cover the tokens of the model input. */
  readonly modelInput: readonly ProvenanceSpan[];
  /** Runs that cover one-dimensional `targetTokens`. */
  readonly targetTokens: readonly ProvenanceSpan[];
}

/**
 * A copy of a datum that says where its tokens come from: which sampled sequences, and which tokens of them. Losses that need recorded
 * facts about a sequence (`stable_reinforce`) find it by these spans.
 *
 * @throws `ValidationError` when a span is invalid, or when the lengths do not add up to those of the model input and of the targets.
 */
export function withProvenance(datum: Datum, provenance: Provenance): Datum {
  const issues = provenanceIssues(provenance);
  if (issues.length === 0) issues.push(...coverageIssues({ ...datum, provenance }));
  if (issues.length > 0) throw new ValidationError({ direction: 'request', subject: 'Datum', issues });
  return { ...datum, provenance };
}

const LISTS = ['modelInput', 'targetTokens'] as const;
const SPAN_FIELDS: readonly string[] = ['kind', 'sequenceId', 'offset', 'length'];

/** What is wrong with the spans themselves, at paths that start with `provenance`. */
export function provenanceIssues(provenance: Provenance): ValidationIssue[] {
  if (typeof provenance !== 'object' || provenance === null) {
    return [{ path: 'provenance', message: `must be { modelInput, targetTokens }, got ${describe(provenance)}` }];
  }
  const issues: ValidationIssue[] = [];
  for (const name of LISTS) {
    const path = `provenance.${name}`;
    const spans: unknown = provenance[name];
    if (!Array.isArray(spans)) {
      issues.push({ path, message: 'must be a list of spans; set both lists, or leave provenance out' });
      continue;
    }
    spans.forEach((span, index) => {
      for (const { path: field, message } of spanIssues(span)) issues.push({ path: joinPath(`${path}[${index}]`, field), message });
    });
  }
  return issues;
}

function spanIssues(span: unknown): ValidationIssue[] {
  if (typeof span !== 'object' || span === null) return [{ path: '', message: `must be a span, got ${describe(span)}` }];
  const { kind, sequenceId, offset = 0, length } = span as Readonly<Record<string, unknown>>;
  const issues: ValidationIssue[] = Object.entries(span)
    .filter(([name, value]) => value !== undefined && !SPAN_FIELDS.includes(name))
    .map(([path]) => ({ path, message: `is not a known field; remove it (known: ${SPAN_FIELDS.join(', ')})` }));
  if (kind !== 'prompt' && kind !== 'sampled')
    issues.push({ path: 'kind', message: `must be one of 'prompt', 'sampled', got ${describe(kind)}` });
  if (typeof sequenceId !== 'string' || sequenceId === '')
    issues.push({ path: 'sequenceId', message: `must be text that is not empty, got ${describe(sequenceId)}` });
  if (!isCount(offset)) issues.push({ path: 'offset', message: `must be a whole number from 0 up, got ${describe(offset)}` });
  if (!isCount(length)) issues.push({ path: 'length', message: `must be a whole number from 0 up, got ${describe(length)}` });
  return issues;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether the valid spans of a datum cover its fields: one issue for each list that does not. Targets of two dimensions are not checked. */
export function coverageIssues({ modelInput, lossFnInputs, provenance }: Datum): ValidationIssue[] {
  if (provenance === undefined) return [];
  const { targetTokens } = lossFnInputs;
  const targetShape = targetTokens && (targetTokens.shape ?? [targetTokens.length]);
  const expected = { modelInput: modelInput.length, targetTokens: targetShape?.length === 1 ? targetShape[0] : undefined };
  return LISTS.flatMap((name) => {
    const covered = provenance[name].reduce((sum, { length }) => sum + length, 0);
    if (expected[name] === undefined || expected[name] === covered) return [];
    const path = `provenance.${name}`;
    return [{ path, message: `covers ${covered} of ${expected[name]} tokens; the lengths of its spans must add up to ${expected[name]}` }];
  });
}
