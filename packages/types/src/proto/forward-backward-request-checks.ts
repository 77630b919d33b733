import { invalidRequest } from '../errors/invalid.js';
import { ModelInput } from '../model-input/model-input.js';
import { INT32_MAX } from '../tensor/numbers.js';
import { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from '../training/datum.js';
import { describe, joinPath, keyText } from '../wire/messages.js';
import type { ForwardBackwardRequest } from '../wire/training.js';

const KNOWN = new Set(['modelId', 'seqId', 'data', 'lossFn', 'lossFnConfig', 'forwardOnly']);

/** Holds a request to the rules of the JSON dialect, without walking through its numbers. Throws a `ValidationError`. */
export function checkRequest(request: ForwardBackwardRequest): void {
  if (typeof request !== 'object' || request === null) throw wrong('', `must be an object, got ${describe(request)}`);
  for (const key of Object.keys(request))
    if (!KNOWN.has(key)) throw wrong(key, `is not a known option; remove it (known: ${[...KNOWN].join(', ')})`);
  const { modelId, seqId, data, lossFn, lossFnConfig, forwardOnly } = request;
  if (typeof modelId !== 'string') throw wrong('modelId', `must be text, got ${describe(modelId)}`);
  if (seqId !== undefined && !(Number.isInteger(seqId) && seqId >= 1 && seqId <= INT32_MAX)) {
    throw wrong('seqId', `must be a whole number from 1 to ${INT32_MAX}, got ${describe(seqId)}`);
  }
  if (typeof lossFn !== 'string' || lossFn === '') throw wrong('lossFn', `must be text that is not empty, got ${describe(lossFn)}`);
  if (forwardOnly !== undefined && typeof forwardOnly !== 'boolean')
    throw wrong('forwardOnly', `must be true or false, got ${describe(forwardOnly)}`);
  for (const [name, value] of Object.entries(lossFnConfig ?? {})) {
    if (!Number.isFinite(value)) throw wrong(joinPath('lossFnConfig', keyText(name)), `must be a finite number, got ${describe(value)}`);
  }
  if (!Array.isArray(data) || data.length === 0) throw wrong('data', 'must be a list of at least 1');
  for (const [index, datum] of data.entries()) checkDatum(datum as Datum, `data[${index}]`);
}

function checkDatum(datum: Datum, path: string): void {
  if (!ModelInput.isInstance(datum?.modelInput))
    throw wrong(`${path}.modelInput`, 'must be a ModelInput; make one with ModelInput.fromInts(tokens)');
  datum.modelInput.chunks.forEach((chunk, index) => {
    const place = `${path}.modelInput.chunks[${index}]`;
    if (chunk.type === 'encoded_text') {
      if (!(chunk.tokens instanceof Int32Array))
        throw wrong(`${place}.tokens`, 'must be an Int32Array; make the chunk with encodedText(tokens)');
    } else if (chunk.type === 'image') {
      if (chunk.format !== 'png' && chunk.format !== 'jpeg')
        throw wrong(`${place}.format`, `must be one of 'png', 'jpeg', got ${describe(chunk.format)}`);
      const { expectedTokens: count } = chunk;
      if (count !== undefined && !(Number.isInteger(count) && count >= 0 && count <= INT32_MAX)) {
        throw wrong(`${place}.expectedTokens`, `must be a whole number from 0 up, got ${describe(count)}`);
      }
    } else if (chunk.type === 'image_asset_pointer') {
      throw wrong(place, 'is an image_asset_pointer, which training does not take; give the bytes of the image');
    }
  });
  for (const [name, tensor] of Object.entries(datum.lossFnInputs ?? {})) {
    if (!TensorData.isInstance(tensor)) {
      throw wrong(
        joinPath(`${path}.lossFnInputs`, keyText(name)),
        'must be a TensorData; make the datum with datum({ modelInput, lossFnInputs })',
      );
    }
  }
}

function wrong(path: string, message: string): Error {
  return invalidRequest('ForwardBackwardRequest', path, message);
}
