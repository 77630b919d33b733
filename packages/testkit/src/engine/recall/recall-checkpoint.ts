import { type AdapterModule, type AdapterShape, MODULE_SHAPES } from '../adapter.js';
import { readOptimizerState, readWeights, requireTensor, writeFiles } from '../checkpoint-files.js';
import { type CheckpointFiles, EngineUserError } from '../engine.js';
import type { EngineOptimizer, OptimizerState } from '../optimizer.js';
import type { NamedTensor } from '../safetensors.js';
import { RecallAdapter } from './recall-adapter.js';

const WEIGHT = 'weight';

/** Writes an adapter, and the optimizer's state when one is given. Only pairs that exist are written. */
export function writeRecall(baseModel: string, adapter: RecallAdapter, optimizer?: OptimizerState): CheckpointFiles {
  const { rank, modules } = adapter;
  const sizes = sizesOf(adapter);
  const tensor = (matrix: string, values: Float32Array, suffix: string): NamedTensor => {
    const size = sizes.get(matrix) as number;
    return { name: nameOf(matrix, suffix), shape: [size], values: values.subarray(0, size) };
  };
  const integers = adapter.tables().flatMap(([matrix, { keys, tokens, count }]) => [
    { name: nameOf(matrix, 'keys'), shape: [count], values: keys.subarray(0, count) },
    { name: nameOf(matrix, 'tokens'), shape: [count], values: tokens.subarray(0, count) },
  ]);
  const weights = adapter.matrices().map(({ name, values }) => tensor(name, values, WEIGHT));
  return writeFiles({ baseModel, rank, modules, weights: [...weights, ...integers], optimizer, momentOf: tensor });
}

/** The adapter in a checkpoint. Throws {@link EngineUserError} when a tensor is missing or misshapen. */
export function readRecall(files: CheckpointFiles, shape: AdapterShape): RecallAdapter {
  const tensors = readWeights(files);
  const adapter = new RecallAdapter(shape);
  adapter.relations?.set(requireTensor(tensors, nameOf('attn', WEIGHT), [adapter.relations.length]));
  for (const [matrix, table] of adapter.tables()) {
    const keys = requireIntegers(tensors, nameOf(matrix, 'keys'));
    const tokens = requireIntegers(tensors, nameOf(matrix, 'tokens'));
    const weights = requireTensor(tensors, nameOf(matrix, WEIGHT), [keys.length]);
    if (tokens.length !== keys.length || keys.length > table.limit) {
      throw new EngineUserError(
        `The checkpoint has ${keys.length} keys and ${tokens.length} tokens for ${matrix}; at most ${table.limit} fit.`,
      );
    }
    table.reserve(keys.length);
    table.keys.set(keys);
    table.tokens.set(tokens);
    table.weights.set(weights);
    table.index(keys.length);
  }
  return adapter;
}

/** The optimizer's state in a checkpoint, for the adapter in it. */
export function readRecallOptimizer(files: CheckpointFiles, adapter: RecallAdapter, family: EngineOptimizer): OptimizerState {
  const sizes = sizesOf(adapter);
  return readOptimizerState(files, [...sizes.keys()], family, (tensors, matrix, suffix) =>
    requireTensor(tensors, nameOf(matrix, suffix), [sizes.get(matrix) as number]),
  );
}

/** The number of weights in use of each array. */
function sizesOf(adapter: RecallAdapter): Map<string, number> {
  const counts = new Map<string, number>(adapter.tables().map(([name, { count }]) => [name, count]));
  return new Map(adapter.matrices().map(({ name, values }) => [name, counts.get(name) ?? values.length]));
}

function nameOf(matrix: string, suffix: string): string {
  return `base_model.model.${MODULE_SHAPES[matrix as AdapterModule].path}.recall.${suffix}`;
}

function requireIntegers(tensors: ReadonlyMap<string, NamedTensor>, name: string): Int32Array {
  const tensor = tensors.get(name);
  if (!(tensor?.values instanceof Int32Array)) throw new EngineUserError(`The checkpoint has no tensor ${name} of int32.`);
  return tensor.values;
}
