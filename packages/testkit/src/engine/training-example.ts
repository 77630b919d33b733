import type { Datum, TensorData } from '@tinkex/types';
import { checkToken, contextSymbols } from './context-symbols.js';
import { EngineUserError } from './engine.js';
import type { LossFunction, LossInputs } from './losses.js';
import type { Network } from './network.js';
import type { PassInput } from './training-pass.js';
import type { Vocabulary } from './vocabulary.js';

/** A datum, checked and laid out for the training loop. */
export interface TrainingExample extends PassInput {
  /** The shape the caller gave the targets; outputs have it too. */
  readonly shape: readonly number[];
  readonly inputs: LossInputs;
}

/**
 * Checks a datum against what the loss needs. Targets are one per position (`[N]`) or several (`[N, K]`, as for distillation); every other
 * input has the targets' shape. Throws {@link EngineUserError} naming the datum and the field, in wire names, as any client's user knows them.
 */
export function trainingExample(
  datum: Datum,
  index: number,
  loss: LossFunction,
  lossName: string,
  { vocabulary, maxContextLength }: Pick<Network, 'vocabulary' | 'maxContextLength'>,
): TrainingExample {
  const name = `datum ${index}`;
  const context = contextSymbols(datum.modelInput, vocabulary, maxContextLength, `model_input of ${name}`);
  const given = datum.lossFnInputs as Readonly<Record<string, TensorData | undefined>>;
  const allowed = ['targetTokens', ...loss.inputs, ...loss.optionalInputs];
  for (const key of Object.keys(given)) {
    if (!allowed.includes(key)) {
      const known = allowed.map(wireName).join(', ');
      throw new EngineUserError(`Loss function '${lossName}' takes no input '${wireName(key)}' (${name}); it takes ${known}.`);
    }
  }
  const targetTensor = required(given, 'targetTokens', name, lossName).toDense();
  const shape = targetTensor.shape ?? [targetTensor.data.length];
  if (shape.length < 1 || shape.length > 2 || shape[0] !== context.length) {
    throw new EngineUserError(
      `target_tokens of ${name} has shape [${shape.join(', ')}], but its model_input has ${context.length} tokens; the first dimension must be equal.`,
    );
  }
  const inputs: Record<string, Float32Array> = {};
  for (const key of loss.inputs) inputs[key] = numbers(required(given, key, name, lossName), wireName(key), shape, name);
  for (const key of loss.optionalInputs) {
    const tensor = given[key];
    if (tensor !== undefined) inputs[key] = numbers(tensor, wireName(key), shape, name);
  }
  return { context, targets: tokenIds(targetTensor, vocabulary, name), targetsPerPosition: shape[1] ?? 1, shape, inputs };
}

function required(given: Readonly<Record<string, TensorData | undefined>>, key: string, name: string, lossName: string): TensorData {
  const tensor = given[key];
  if (tensor === undefined) throw new EngineUserError(`${wireName(key)} is missing in ${name}; loss function '${lossName}' needs it.`);
  return tensor;
}

function tokenIds(tensor: TensorData, vocabulary: Vocabulary, name: string): Int32Array {
  if (tensor.dtype !== 'int64') throw new EngineUserError(`target_tokens of ${name} must be int64, got ${tensor.dtype}.`);
  const ids = new Int32Array(tensor.data.length);
  for (let index = 0; index < ids.length; index++) {
    const token = Number(tensor.data[index]);
    checkToken(token, vocabulary, `target ${index} of ${name}`);
    ids[index] = token;
  }
  return ids;
}

function numbers(tensor: TensorData, key: string, shape: readonly number[], name: string): Float32Array {
  const dense = tensor.toDense();
  const actual = dense.shape ?? [dense.data.length];
  if (actual.length !== shape.length || actual.some((size, dimension) => size !== shape[dimension])) {
    throw new EngineUserError(
      `${key} of ${name} has shape [${actual.join(', ')}], target_tokens has [${shape.join(', ')}]; they must be equal.`,
    );
  }
  const values = dense.data instanceof Float32Array ? dense.data : Float32Array.from(dense.data, Number);
  for (let index = 0; index < values.length; index++) {
    if (!Number.isFinite(values[index])) {
      throw new EngineUserError(`${key} of ${name} has ${values[index]} at ${index}; it must be finite.`);
    }
  }
  return values;
}

/** `targetTokens` → `target_tokens` */
function wireName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
