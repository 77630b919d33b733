/** Reinforcement learning: a reward written in TypeScript, group-normalized advantages, importance sampling and PPO. */
import { datum, ModelInput, type SampledSequence, type Tokenizer } from '@tinkex/types';
import { INSPECT_HELP } from './shared/inspection.js';
import { lineChartSvg, seriesOf } from './shared/line-chart.js';
import { LiveCurve } from './shared/live-curve.js';
import { writeOutput } from './shared/output.js';
import { CommandLineError, runExample } from './shared/run-example.js';
import { openTarget, type Target } from './shared/target.js';
import { paint, quoted } from './shared/terminal.js';

const PROMPTS = ['Say aah: ', 'Sing on: ', 'Count 1: ', 'Warm up: '];
const GROUP_SIZE = 16;
const ANSWER_TOKENS = 12;

/** The reward is any function of the text: here the share of vowels, from 0 to 1. */
function reward(text: string): number {
  return text.length === 0 ? 0 : (text.match(/[aeiou]/g) ?? []).length / Math.max(text.length, ANSWER_TOKENS / 2);
}

const program = {
  about: 'Teaches a model to answer in vowels by rewarding its samples, once with importance sampling and once with PPO.',
  options: {
    loss: { default: 'both', help: 'importance_sampling, ppo or both' },
    iterations: { default: '12', help: 'rounds of sampling and training' },
  },
  flags: { inspect: INSPECT_HELP },
};

await runExample(program, async ({ signal, options, flags, count }) => {
  if (!['importance_sampling', 'ppo', 'both'].includes(options.loss))
    throw new CommandLineError(`--loss must be importance_sampling, ppo or both, got ${options.loss}.`);
  const iterations = count('iterations');
  await using target = await openTarget({
    signal,
    inspected: flags.inspect ? { name: 'rl', rank: 16, totalSteps: iterations } : undefined,
  });
  console.log(`Training on ${target.description}`);
  for (const lossFn of options.loss === 'both' ? ['importance_sampling', 'ppo'] : [options.loss]) {
    await improve(target, lossFn, iterations, signal);
  }
});

async function improve(target: Target, lossFn: string, iterations: number, signal: AbortSignal): Promise<void> {
  console.log(`\n${paint('bold', lossFn)}: ${PROMPTS.length} prompts, ${GROUP_SIZE} answers each, ${iterations} rounds`);
  const training = await target.service.createLoraTrainingClient({ baseModel: target.baseModel, rank: 16, seed: 1, signal });
  const tokenizer = await training.getTokenizer({ signal });
  const curve = new LiveCurve({ name: 'reward', totalSteps: iterations, signal, printEvery: 3 });
  let example = '';
  for (let iteration = 0; iteration < iterations; iteration++) {
    // The policy of this round. Its log-probabilities come with the samples.
    const sampling = await training.saveWeightsAndGetSamplingClient({ retry: true, signal });
    const groups = await Promise.all(
      PROMPTS.map(async (text, index) => {
        const prompt = ModelInput.fromText(text, tokenizer);
        const samplingParams = { maxTokens: ANSWER_TOKENS, temperature: 1, seed: iteration * PROMPTS.length + index };
        const { sequences } = await sampling.sample({ prompt, numSamples: GROUP_SIZE, samplingParams }, { signal });
        return { prompt, sequences, rewards: sequences.map((sequence) => reward(textOf(sequence, tokenizer))) };
      }),
    );
    const data = groups.flatMap(({ prompt, sequences, rewards }) => {
      const advantages = normalize(rewards);
      return sequences.map((sequence, index) => policyDatum(prompt.toInts(), sequence, advantages[index] ?? 0));
    });
    // PPO takes several steps on the same answers: clipping keeps the policy close to the one that sampled them.
    for (let pass = 0; pass < (lossFn === 'ppo' ? 2 : 1); pass++) {
      const forward = training.forwardBackward(data, lossFn, { signal });
      const update = training.optimStep({ learningRate: target.learningRate }, { signal });
      await forward;
      await update;
    }
    const rewards = groups.flatMap((group) => group.rewards);
    example = textOf(groups[0]?.sequences[0], tokenizer);
    curve.add(rewards.reduce((sum, value) => sum + value, 0) / rewards.length, quoted(example));
  }
  const picture = await writeOutput(
    `rl-${lossFn}.svg`,
    lineChartSvg({ title: `Mean reward, ${lossFn}`, series: [seriesOf('reward', curve.values)] }),
  );
  console.log(`Mean reward: ${curve.values[0]?.toFixed(3)} → ${curve.values.at(-1)?.toFixed(3)}\nReward curve: ${picture}`);
}

/** How much better than the rest of its group each answer was, in standard deviations. */
function normalize(rewards: readonly number[]): number[] {
  const mean = rewards.reduce((sum, value) => sum + value, 0) / rewards.length;
  const deviation = Math.sqrt(rewards.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rewards.length);
  return rewards.map((value) => (value - mean) / (deviation + 1e-6));
}

/** The prompt has advantage 0: only the tokens of the answer get credit or blame. */
function policyDatum(prompt: Int32Array, { tokens, logprobs }: SampledSequence, advantage: number) {
  if (logprobs === undefined) throw new Error('The server sent no log-probabilities with its samples.');
  const sequence = [...prompt, ...tokens];
  const pad = new Array<number>(prompt.length - 1).fill(0);
  return datum({
    modelInput: ModelInput.fromInts(sequence.slice(0, -1)),
    lossFnInputs: {
      targetTokens: sequence.slice(1),
      logprobs: [...pad, ...logprobs],
      advantages: [...pad, ...new Array<number>(tokens.length).fill(advantage)],
    },
  });
}

function textOf(sequence: SampledSequence | undefined, tokenizer: Tokenizer): string {
  return tokenizer.decode(sequence?.tokens ?? []);
}
