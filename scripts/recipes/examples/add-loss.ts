import { before, type Recipe } from '../recipe.js';
import { changeset } from './changeset.js';

/** `l2`: the squared log-probability of the target, weighted. */
export const addLoss: Recipe = {
  page: 'add-loss',
  edits: [
    {
      file: 'packages/types/src/training/forward-backward.ts',
      find: "'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo' | 'dro' | 'gspo' | 'stable_reinforce' | 'custom';",
      replace: "'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo' | 'dro' | 'gspo' | 'stable_reinforce' | 'custom' | 'l2';",
    },
    before(
      'packages/testkit/src/engine/losses.ts',
      '  dro: {\n',
      `  l2: {
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
      `  it('l2 is w * lp^2', () => {
    expect(evaluate('l2', -2, { weights: 0.5 })).toEqual({ value: 2, slope: -2, isClipped: false });
  });

`,
    ),
    before(
      'packages/testkit/test/engine/gradients.test.ts',
      "  it('importance_sampling', ",
      `  it('l2', () => {
    expectTrueGradients(bind('l2', { weights: random(count, 1, -1, 2) }));
  });

`,
    ),
    changeset('The loss `l2` is typed, and the embedded engine trains with it.', 'types', 'testkit'),
  ],
  typecheck: ['types', 'testkit'],
  tests: { testkit: ['test/engine/losses.test.ts', 'test/engine/gradients.test.ts'] },
};
