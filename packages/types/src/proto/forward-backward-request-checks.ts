import { describe, joinPath, keyText } from '../errors/issue-text.js';
import { invalidRequest } from '../errors/validation-error.js';
import { isPlainObject } from '../json/json-value.js';
import type { ModelInputChunk } from '../model-input/chunks.js';
import { ModelInput } from '../model-input/model-input.js';
import { INT32_MAX } from '../tensor/numbers.js';
import { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from '../training/datum.js';
import type { ForwardBackwardRequest } from '../training/forward-backward.js';
import { provenanceIssues } from '../training/provenance.js';

const KNOWN = new Set(['modelId', 'seqId', 'data', 'lossFn', 'lossFnConfig', 'forwardOnly']);

const NO_BYTES = 'must be a Uint8Array';

/** Holds a request to the rules of the JSON codec, without checking its numbers one by one. Throws a `ValidationError`. */
export function checkForwardBackwardRequest(request: ForwardBackwardRequest): void {
  if (typeof request !== 'object' || request === null) throw wrong('', `must be an object, got ${describe(request)}`);
  for (const [key, value] of Object.entries(request))
    if (value !== undefined && !KNOWN.has(key)) throw wrong(key, `is not a known option; remove it (known: ${[...KNOWN].join(', ')})`);
  const { modelId, seqId, data, lossFn, lossFnConfig, forwardOnly } = request;
  if (typeof modelId !== 'string') throw wrong('modelId', `must be text, got ${describe(modelId)}`);
  if (seqId !== undefined && !(Number.isInteger(seqId) && seqId >= 1 && seqId <= INT32_MAX)) {
    throw wrong('seqId', `must be a whole number from 1 to ${INT32_MAX}, got ${describe(seqId)}`);
  }
  if (typeof lossFn !== 'string' || lossFn === '') throw wrong('lossFn', `must be text that is not empty, got ${describe(lossFn)}`);
  if (forwardOnly !== undefined && typeof forwardOnly !== 'boolean')
    throw wrong('forwardOnly', `must be true or false, got ${describe(forwardOnly)}`);
  if (lossFnConfig !== undefined && !isPlainObject(lossFnConfig))
    throw wrong('lossFnConfig', `must be an object of named values, got ${describe(lossFnConfig)}`);
  for (const [name, value] of Object.entries(lossFnConfig ?? {})) {
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) continue;
    throw wrong(joinPath('lossFnConfig', keyText(name)), `must be a finite number, text, true or false, got ${describe(value)}`);
  }
  if (!Array.isArray(data) || data.length === 0) throw wrong('data', 'must be a list of at least 1');
  for (let index = 0; index < data.length; index += 1) checkDatum(data[index] as Datum, index);
}

/** Builds paths only when something is wrong: most calls are valid and have thousands of data. */
function checkDatum(datum: Datum, index: number): void {
  if (!ModelInput.isInstance(datum?.modelInput)) {
    throw wrong(`data[${index}].modelInput`, 'must be a ModelInput; make one with ModelInput.fromInts(tokens)');
  }
  const { chunks } = datum.modelInput;
  for (let place = 0; place < chunks.length; place += 1) {
    const problem = chunkProblem(chunks[place] as ModelInputChunk);
    if (problem !== undefined) throw wrong(`data[${index}].modelInput.chunks[${place}]${problem[0]}`, problem[1]);
  }
  const inputs = datum.lossFnInputs ?? {};
  for (const name of Object.keys(inputs)) {
    if (inputs[name] === undefined || TensorData.isInstance(inputs[name])) continue;
    const path = joinPath(`data[${index}].lossFnInputs`, keyText(name));
    throw wrong(path, 'must be a TensorData; make the datum with datum({ modelInput, lossFnInputs })');
  }
  if (datum.provenance === undefined) return;
  for (const { path, message } of provenanceIssues(datum.provenance)) throw wrong(`data[${index}].${path}`, message);
}

/** The path within the chunk, and what is wrong. */
function chunkProblem(chunk: ModelInputChunk): readonly [path: string, message: string] | undefined {
  if (chunk.type === 'encoded_text') {
    if (chunk.tokens instanceof Int32Array) return undefined;
    return ['.tokens', 'must be an Int32Array; make the chunk with encodedText(tokens)'];
  }
  if (chunk.type === 'image_asset_pointer') {
    return ['', 'is an image_asset_pointer, which training does not take; give the bytes of the image'];
  }
  if (chunk.type === 'dmel') return chunk.dmel instanceof Uint8Array ? undefined : ['.dmel', NO_BYTES];
  if (chunk.type !== 'image')
    return ['.type', `must be one of 'encoded_text', 'image', 'dmel', got ${describe((chunk as { type?: unknown | undefined }).type)}`];
  if (!(chunk.data instanceof Uint8Array)) return ['.data', NO_BYTES];
  const { format, expectedTokens: count } = chunk;
  if (format !== 'png' && format !== 'jpeg') return ['.format', `must be one of 'png', 'jpeg', got ${describe(format)}`];
  if (count === undefined || (Number.isInteger(count) && count >= 0 && count <= INT32_MAX)) return undefined;
  return ['.expectedTokens', `must be a whole number from 0 up, got ${describe(count)}`];
}

function wrong(path: string, message: string): Error {
  return invalidRequest('ForwardBackwardRequest', path, message);
}
