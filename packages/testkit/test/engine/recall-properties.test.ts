import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ADAPTER_MODULES, type AdapterModule } from '../../src/engine/adapter.js';
import { fillUniform, seededStream } from '../../src/engine/random.js';
import { BaseDistribution } from '../../src/engine/recall/base-distribution.js';
import { RecallAdapter } from '../../src/engine/recall/recall-adapter.js';
import { RecallGradients } from '../../src/engine/recall/recall-gradients.js';
import { RecallModel } from '../../src/engine/recall/recall-model.js';
import { questionDatum, recall, scoreAll, trainStep } from './recall.js';

/** A vocabulary with texts of it, long and short, with and without repetitions. */
const texts = fc.constantFrom(2, 15, 16, 17, 260, 151_936, 262_144).chain((vocabularySize) =>
  fc.record({
    vocabularySize: fc.constant(vocabularySize),
    context: fc.array(fc.oneof(fc.nat(vocabularySize - 1), fc.nat(Math.min(3, vocabularySize - 1))), { minLength: 2, maxLength: 40 }),
  }),
);
const modules = fc.subarray<AdapterModule>([...ADAPTER_MODULES], { minLength: 1 });

/** A model with weights of any size for what follows in the text. */
function modelOf(vocabularySize: number, context: readonly number[], own: readonly AdapterModule[], size: number): RecallModel {
  const adapter = new RecallAdapter({ rank: 1, modules: own });
  const model = new RecallModel(new BaseDistribution('test', vocabularySize), adapter);
  const tokens = Int32Array.from(context);
  const input = { context: tokens.subarray(0, -1), targets: tokens.subarray(1), targetsPerPosition: 1, factorOf: () => 1 };
  new RecallGradients(model, adapter).prepare(input);
  for (const { values } of adapter.matrices()) fillUniform(values, size, seededStream(context.length));
  model.refresh();
  return model;
}

describe('whatever the recall model was trained on', () => {
  it('its probabilities add up to one', () => {
    const sizes = fc.constantFrom(0, 0.1, 3, 1_000);
    fc.assert(
      fc.property(texts, modules, sizes, fc.nat(), ({ vocabularySize, context }, own, size, at) => {
        const model = modelOf(vocabularySize, context, own, size);
        model.forward(Int32Array.from(context), at % context.length);
        let sum = 0;
        for (let token = 0; token < vocabularySize; token++) sum += Math.exp(model.logprob(token));
        expect(sum).toBeCloseTo(1, 8);
      }),
      { numRuns: 60 },
    );
  });

  it('a prediction depends on the tokens before it alone', () => {
    fc.assert(
      fc.property(texts, modules, ({ vocabularySize, context }, own) => {
        const model = modelOf(vocabularySize, context, own, 0.5);
        const scores = (tokens: readonly number[]): number[] => {
          const ids = Int32Array.from(tokens);
          return tokens.slice(1).map((token, position) => {
            model.forward(ids, position);
            return model.logprob(token);
          });
        };
        const half = Math.ceil(context.length / 2);
        expect(scores(context).slice(0, half - 1)).toEqual(scores(context.slice(0, half)));
      }),
      { numRuns: 200 },
    );
  });

  it('it continues bit for bit from a checkpoint', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(262_143), { minLength: 2, maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        async (tokens, steps) => {
          const baseModel = 'any/model';
          const data = [questionDatum(tokens.slice(0, 1), tokens.slice(1))];
          const setup = { baseModel, anyModel: true };
          const { model } = await recall(setup);
          for (let step = 0; step < steps; step++) await trainStep(model, data, 2e-2);
          const other = (await recall(setup)).model;
          await other.load(await model.save('training'), { optimizer: true });
          for (const each of [model, other]) await trainStep(each, data, 2e-2);
          expect(await scoreAll(other, data)).toEqual(await scoreAll(model, data));
        },
      ),
      { numRuns: 30 },
    );
  });
});
