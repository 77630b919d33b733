import type { ModelInputChunk } from '../model-input/chunks.js';
import type { ModelInput } from '../model-input/model-input.js';
import type { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from './datum.js';

const TRAINING_BYTES_PER_TOKEN = 4;
const SAMPLING_BYTES_PER_TOKEN = 10;
const INDEX_BYTES = 8;

/** About how many bytes a datum takes in a request, by the rules of the reference: it decides how data are split into chunks. */
export function estimateDatumBytes({ modelInput, lossFnInputs }: Datum): number {
  let bytes = estimateInputBytes(modelInput, TRAINING_BYTES_PER_TOKEN);
  for (const tensor of Object.values(lossFnInputs)) if (tensor !== undefined) bytes += estimateTensorBytes(tensor);
  return bytes;
}

/** About how many bytes a prompt takes in a sampling request, by the rules of the reference: it decides how much is sent at the same time. */
export function estimatePromptBytes(prompt: ModelInput): number {
  return estimateInputBytes(prompt, SAMPLING_BYTES_PER_TOKEN);
}

function estimateInputBytes({ chunks }: ModelInput, bytesPerToken: number): number {
  let bytes = 0;
  // By index: the iterator of a frozen list makes an object for every step.
  for (let index = 0; index < chunks.length; index += 1) {
    const chunk = chunks[index] as ModelInputChunk;
    if (chunk.type === 'encoded_text') bytes += chunk.tokens.length * bytesPerToken;
    else if (chunk.type === 'image') bytes += chunk.data.length;
    else if (chunk.type === 'dmel') bytes += chunk.dmel.length;
    else bytes += chunk.location.length;
  }
  return bytes;
}

function estimateTensorBytes({ data, sparseCrowIndices, sparseColIndices }: TensorData): number {
  return data.byteLength + INDEX_BYTES * ((sparseCrowIndices?.length ?? 0) + (sparseColIndices?.length ?? 0));
}
