import { type AdapterModule, type AdapterShape, LoraAdapter, MODULE_SHAPES } from './adapter.js';
import { readOptimizerState, readWeights, requireTensor, writeFiles } from './checkpoint-files.js';
import type { CheckpointFiles } from './engine.js';
import type { EngineOptimizer, OptimizerState } from './optimizer.js';
import type { NamedTensor } from './safetensors.js';

/** Writes an adapter, and the optimizer's state when one is given. */
export function writeCheckpoint(baseModel: string, adapter: LoraAdapter, optimizer?: OptimizerState): CheckpointFiles {
  const { rank, modules } = adapter;
  return writeFiles({
    baseModel,
    rank,
    modules,
    weights: adapter.matrices().map(({ name, values }) => tensorOf(name, rank, values, 'weight')),
    optimizer,
    momentOf: (matrix, values, suffix) => tensorOf(matrix, rank, values, suffix),
  });
}

/** The adapter in a checkpoint. Throws {@link EngineUserError} when a tensor is missing or misshapen. */
export function readAdapter(files: CheckpointFiles, shape: AdapterShape): LoraAdapter {
  const tensors = readWeights(files);
  const adapter = new LoraAdapter(shape);
  for (const { name, values } of adapter.matrices()) values.set(matrixFrom(tensors, name, shape.rank, 'weight'));
  return adapter;
}

/**
 * The optimizer's state in a checkpoint, for an adapter of this shape. Throws {@link EngineUserError} when there is none, or one of another
 * optimizer.
 */
export function readOptimizer(files: CheckpointFiles, adapter: LoraAdapter, family: EngineOptimizer): OptimizerState {
  const names = adapter.matrices().map(({ name }) => name);
  return readOptimizerState(files, names, family, (tensors, matrix, suffix) => matrixFrom(tensors, matrix, adapter.rank, suffix));
}

/** The name and shape of a matrix in the files: PEFT stores A as rank × inputs, the engine as inputs × rank. */
function place(matrixName: string, rank: number, suffix: string): { name: string; shape: [number, number]; isTransposed: boolean } {
  const [module, factor] = matrixName.split('.') as [AdapterModule, 'a' | 'b'];
  const { path, inputs, outputs } = MODULE_SHAPES[module];
  const isA = factor === 'a';
  return {
    name: `base_model.model.${path}.lora_${isA ? 'A' : 'B'}.${suffix}`,
    shape: isA ? [rank, inputs] : [outputs, rank],
    isTransposed: isA,
  };
}

function tensorOf(matrixName: string, rank: number, values: Float32Array, suffix: string): NamedTensor {
  const { name, shape, isTransposed } = place(matrixName, rank, suffix);
  return { name, shape, values: isTransposed ? transpose(values, shape[1], shape[0]) : values };
}

function matrixFrom(tensors: ReadonlyMap<string, NamedTensor>, matrixName: string, rank: number, suffix: string): Float32Array {
  const { name, shape, isTransposed } = place(matrixName, rank, suffix);
  const values = requireTensor(tensors, name, shape);
  return isTransposed ? transpose(values, shape[0], shape[1]) : values;
}

function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) result[column * rows + row] = values[row * columns + column] as number;
  }
  return result;
}
