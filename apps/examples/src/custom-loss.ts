/** Your own loss in TypeScript: a preference loss (DPO), with its gradient written by hand and by automatic differentiation. */
import { numpy as np } from '@jax-js/jax';
import type { CustomLoss, LogprobTensor, TrainingClient } from '@tinkex/clients';
import { autodiff } from '@tinkex/clients/autodiff';
import { type Datum, encodedIds, ModelInput, nextTokenDatum, type Tokenizer } from '@tinkex/types';
import { LiveCurve } from './shared/live-curve.js';
import { runExample } from './shared/run-example.js';
import { openTarget } from './shared/target.js';
import { paint } from './shared/terminal.js';

const STEPS = 15;
const BETA = 0.1;
const PREFERENCES = [
  { prompt: 'Mood? ', chosen: 'calm', rejected: 'grim' },
  { prompt: 'Tea? ', chosen: 'yes please', rejected: 'go away' },
  { prompt: 'Help! ', chosen: 'right away', rejected: 'no way' },
];

await runExample(
  { about: 'Teaches a model to prefer one answer to another, with a loss that this process computes.' },
  async ({ signal }) => {
    await using target = await openTarget({ signal });
    console.log(`Training on ${target.description}`);
    const results = [];
    for (const kind of ['by hand', 'by autodiff'] as const) {
      console.log(`\n${paint('bold', `Gradient ${kind}`)}`);
      const training = await target.service.createLoraTrainingClient({ baseModel: target.baseModel, rank: 16, seed: 1, signal });
      const data = pairs(await training.getTokenizer({ signal }));
      const reference = await answerLogprobs(training, data, signal); // of the initial model, which DPO stays close to
      const loss = kind === 'by hand' ? preferenceLoss(reference) : autodiff(preferenceLossOfArrays(reference));
      const curve = new LiveCurve({ name: 'loss', totalSteps: STEPS, signal });
      for (let step = 0; step < STEPS; step++) {
        const forward = training.forwardBackwardCustom(data, loss, { signal });
        const update = training.optimStep({ learningRate: target.learningRate / 20 }, { signal }); // executed after both passes
        const output = await forward;
        await update;
        curve.add(output.loss, `margin ${output.metrics['margin:mean']?.toFixed(2)}`);
      }
      const now = await answerLogprobs(training, data, signal);
      const preferred = PREFERENCES.filter((_, pair) => (now[2 * pair] ?? 0) - (now[2 * pair + 1] ?? 0) > 0).length;
      console.log(
        `Prefers the chosen answer in ${preferred} of ${PREFERENCES.length} pairs; loss ${curve.values[0]?.toFixed(4)} → ${curve.values.at(-1)?.toFixed(4)}`,
      );
      results.push(curve.values.at(-1) ?? Number.NaN);
    }
    const [byHand = Number.NaN, byAutodiff = Number.NaN] = results;
    const shown = `${byHand.toFixed(4)} and ${byAutodiff.toFixed(4)}`;
    // Two new models start from the same seed: if the server keeps them apart, only the rounding of the gradients differs.
    if (Math.abs(byHand - byAutodiff) < 1e-3) console.log(`\nBoth ways end at the same loss, up to rounding: ${shown}`);
    else console.log(`\nThe two ways end at different losses, ${shown}: this server does not start two models from the same seed.`);
  },
);

/** Chosen and rejected answers alternate: 2i and 2i + 1 belong together. Only the answers have weight. */
function pairs(tokenizer: Tokenizer): Datum[] {
  return PREFERENCES.flatMap(({ prompt, chosen, rejected }) => {
    const promptLength = encodedIds(tokenizer.encode(prompt)).length;
    return [chosen, rejected].map((answer) => nextTokenDatum(ModelInput.fromText(prompt + answer, tokenizer).toInts(), { promptLength }));
  });
}

/** −log σ(z), averaged over pairs; z = β · (how much more than the reference the model favors the chosen answer over the rejected one). */
function preferenceLoss(reference: readonly number[]): CustomLoss {
  return (data, logprobs) => {
    const sums = data.map((each, index) => masked(each, logprobs[index]));
    const z = PREFERENCES.map((_, pair) => {
      const gain = (index: number): number => (sums[index] ?? 0) - (reference[index] ?? 0);
      return BETA * (gain(2 * pair) - gain(2 * pair + 1));
    });
    const gradients = data.map((each, index) => {
      const slope = -1 / (1 + Math.exp(z[index >> 1] ?? 0)) / z.length; // d loss / d z
      const sign = index % 2 === 0 ? 1 : -1; // chosen up, rejected down
      return weightsOf(each).map((weight) => sign * BETA * slope * weight);
    });
    return { loss: mean(z.map((value) => Math.log1p(Math.exp(-value)))), gradients, metrics: { 'margin:mean': mean(z) / BETA } };
  };
}

/** The same loss with jax-js arrays: no gradient to derive. Each operation consumes its array; `.ref` keeps it for another operation. */
function preferenceLossOfArrays(reference: readonly number[]): Parameters<typeof autodiff>[0] {
  return (data, logprobs) => {
    const gains = logprobs.map((array, index) => np.sum(array.mul(np.array(weightsOf(data[index] as Datum)))).sub(reference[index] ?? 0));
    const z = np.stack(PREFERENCES.map((_, pair) => (gains[2 * pair] as np.Array).sub(gains[2 * pair + 1] as np.Array).mul(BETA)));
    return { loss: np.mean(np.log(np.exp(z.ref.neg()).add(1))), metrics: { 'margin:mean': np.mean(z).div(BETA) } };
  };
}

/** The log-probability of each complete answer. */
async function answerLogprobs(training: TrainingClient, data: readonly Datum[], signal: AbortSignal): Promise<number[]> {
  const { lossFnOutputs } = await training.forward(data, 'cross_entropy', { signal });
  return data.map((each, index) => masked(each, lossFnOutputs[index]?.logprobs as LogprobTensor | undefined));
}

function masked(each: Datum, logprobs: Pick<LogprobTensor, 'data'> | undefined): number {
  return weightsOf(each).reduce((sum, weight, token) => sum + weight * (logprobs?.data[token] ?? 0), 0);
}

function weightsOf({ lossFnInputs }: Datum): Float32Array {
  return Float32Array.from(lossFnInputs.weights?.data ?? [], Number);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
