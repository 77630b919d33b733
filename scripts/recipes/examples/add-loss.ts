import { before, type Recipe } from '../recipe.js';
import { changeset } from './changeset.js';

/** `squared_error`: the squared log-probability of the target, weighted. */
export const addLoss: Recipe = {
  page: 'add-loss',
  edits: [
    {
      file: 'packages/types/src/training/forward-backward.ts',
      find: "| 'cispo' | 'dro' | 'gspo'",
      replace: "| 'cispo' | 'dro' | 'squared_error' | 'gspo'",
    },
    before(
      'packages/testkit/src/engine/losses.ts',
      '  dro: {\n',
      `  squared_error: {
    inputs: ['weights'],
    optionalInputs: [],
    config: {},
    bind(inputs) {
      const weights = input(inputs, 'weights');
      return (logprob, index, out) => {
        const weight = weights[index] as number;
        out.value = weight * logprob * logprob;
        out.slope = 2 * weight * logprob;
        out.isClipped = false;
      };
    },
  },
`,
    ),
    before(
      'packages/testkit/test/engine/losses.test.ts',
      "  it('importance_sampling is",
      `  it('squared_error is w * lp^2', () => {
    expect(evaluate('squared_error', -2, { weights: 0.5 })).toEqual({ value: 2, slope: -2, isClipped: false });
  });

`,
    ),
    before(
      'packages/testkit/test/engine/gradients.test.ts',
      "  it('importance_sampling', ",
      `  it('squared_error', () => {
    expectTrueGradients(bind('squared_error', { weights: random(count, 1, -1, 2) }));
  });

`,
    ),
    changeset('The loss `squared_error` is typed, and the embedded engine trains with it.', 'types', 'testkit'),
  ],
  typecheck: ['types', 'testkit'],
  tests: { testkit: ['test/engine/losses.test.ts', 'test/engine/gradients.test.ts'] },
};
