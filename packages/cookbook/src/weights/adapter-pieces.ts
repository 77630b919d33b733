import type { AdapterModule } from './adapter-files.js';
import { type TensorInfo, tensorBytes } from './safetensors/dtype.js';
import type { SafetensorsReader } from './safetensors/safetensors-reader.js';
import type { WeightFamily } from './weight-family.js';
import { weightsError } from './weights-error.js';

/** A matrix inside a tensor of an adapter: all of it, or that of one expert. */
export interface FactorMatrix {
  readonly tensor: TensorInfo;
  readonly rows: number;
  readonly columns: number;
  /** Where the matrix begins in the tensor, bytes. */
  readonly begin: number;
  readonly bytes: number;
}

/** The two factors of one weight. */
export interface AdapterPiece {
  /** Path in the model; an expert's has its number. */
  readonly path: string;
  /** Which expert of how many, if it is one. */
  readonly expert?: number | undefined;
  readonly a: FactorMatrix;
  readonly b: FactorMatrix;
}

const EXPERT = /^(.*\.experts)\.(\w+)$/;

/** The weights that a module of an adapter changes: one, or one of each expert. A factor that experts share is repeated. */
export function piecesOf(module: AdapterModule, path: string, family: WeightFamily): AdapterPiece[] {
  const [, experts, projection = ''] = EXPERT.exec(path) ?? [];
  if (experts === undefined) return [{ path, a: matrixOf(module.a, 0, 1), b: matrixOf(module.b, 0, 1) }];
  const name = family.experts[projection];
  if (name === undefined) throw weightsError(module.path, `models of this family (${family.name}) have no projection ${projection}.`);
  if (module.a.shape.length !== 3) throw weightsError(module.path, 'the factors of experts must have three dimensions.');
  const [ofA, ofB] = [module.a.shape[0] as number, module.b.shape[0] as number];
  const count = Math.max(ofA, ofB);
  if (count === 1) throw weightsError(module.path, 'both factors have one expert, so the number of experts is unknown.');
  if (ofA !== ofB && Math.min(ofA, ofB) !== 1) throw weightsError(module.path, `A has ${ofA} experts, B has ${ofB}.`);
  return Array.from({ length: count }, (_, expert) => ({
    path: `${experts}.${expert}.${name}`,
    expert,
    a: matrixOf(module.a, ofA === 1 ? 0 : expert, ofA),
    b: matrixOf(module.b, ofB === 1 ? 0 : expert, ofB),
  }));
}

/** Reads the bytes of a matrix. */
export function readMatrix(weights: SafetensorsReader, { tensor, begin, bytes }: FactorMatrix): Promise<Uint8Array> {
  return weights.read(tensor.name, begin, begin + bytes);
}

function matrixOf(tensor: TensorInfo, index: number, count: number): FactorMatrix {
  const bytes = (tensorBytes(tensor) as number) / count;
  const [rows, columns] = tensor.shape.slice(-2) as [number, number];
  return { tensor, rows, columns, begin: index * bytes, bytes };
}
