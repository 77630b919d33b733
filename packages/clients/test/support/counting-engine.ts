import { createHash } from 'node:crypto';
import { type CheckpointFiles, type Engine, type EngineModel, type EngineSampler, learnEngine } from '@tinkex/testkit';

/** What an engine was asked to do. */
export interface EngineLog {
  /** One entry a piece of work, in the order of execution: its kind and what makes it unique. */
  readonly executed: string[];
  /** The content of each checkpoint written, by the order of the saves. */
  readonly checkpoints: string[];
}

/** One for all: everything is seeded, so runs cannot influence each other, and the base model is built once. */
const engine = learnEngine();

/** The embedded engine, with a log of every piece of work it really did. */
export function countingEngine(log: EngineLog): Engine {
  let models = 0;
  return {
    name: engine.name,
    supportedModels: engine.supportedModels,
    createModel: async (spec) => {
      log.executed.push(`create model ${models++}`);
      return countingModel(await engine.createModel(spec), log);
    },
    createSampler: async (spec) => countingSampler(await engine.createSampler(spec), log),
  };
}

function countingModel(model: EngineModel, log: EngineLog): EngineModel {
  let steps = 0;
  return {
    forward: (input, options) => {
      log.executed.push(
        `${options.backward ? 'backward' : 'forward'} ${input.data.map(({ modelInput }) => modelInput.toInts().join(' ')).join(' | ')}`,
      );
      return model.forward(input, options);
    },
    optimStep: (params) => {
      log.executed.push(`optimizer step ${steps++}`);
      return model.optimStep(params);
    },
    save: async (kind) => {
      const files = await model.save(kind);
      log.executed.push(`save ${kind} ${log.checkpoints.length}`);
      log.checkpoints.push(`${kind} ${digest(files)}`);
      return files;
    },
    load: (checkpoint, options) => {
      log.executed.push('load');
      return model.load(checkpoint, options);
    },
  };
}

function countingSampler(sampler: EngineSampler, log: EngineLog): EngineSampler {
  return {
    sample: (input) => {
      log.executed.push(`sample ${input.prompt.toInts().join(' ')} seed ${input.samplingParams.seed}`);
      return sampler.sample(input);
    },
  };
}

function digest(files: CheckpointFiles): string {
  const hash = createHash('sha256');
  for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name} ${content.length}\n`).update(content);
  return hash.digest('hex');
}
