import type { Mutation } from './mutations.js';

/** A fault in a file of `@tinkex/cookbook`. */
function fault(invariant: string, file: string, find: string, replace: string, tests: readonly string[]): Mutation {
  return { invariant: `cookbook: ${invariant}`, file: `packages/cookbook/src/${file}`, find, replace, package: 'cookbook', tests };
}

/** What makes a resumed run equal to an uninterrupted one, and a budget a limit. */
export const cookbookMutations: readonly Mutation[] = [
  fault('a record holds the next step', 'loop/state-record.ts', 'next_step: step,', 'next_step: step - 1,', ['test/resume.test.ts']),
  fault(
    "the reference's weights are ahead of its record",
    'supervised/resume.ts',
    'said + 1 + numberOr(config?.submit_ahead, DEFAULT_SUBMIT_AHEAD)',
    'said',
    ['test/resume.test.ts'],
  ),
  fault('the last record is final', 'checkpoints/checkpointer.ts', "kind === 'final' ? true : undefined", 'undefined', [
    'test/resume.test.ts',
  ]),
  fault('a step that exceeds maxTokens is not submitted', 'loop/plan.ts', 'tokens > maxTokens', 'state.tokens > maxTokens', [
    'test/limits.test.ts',
  ]),
  fault('money of an earlier process counts', 'budget/spending.ts', "sum + (typeof usd === 'number' ? usd : 0)", 'sum', [
    'test/limits.test.ts',
  ]),
  fault('the order of an epoch is that of numpy', 'data/numpy-random.ts', 'state >> 122n', 'state >> 121n', ['test/vectors.test.ts']),
];
