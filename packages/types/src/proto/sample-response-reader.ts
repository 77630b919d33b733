import { fromBinary } from '@bufbuild/protobuf';
import { invalidResponse } from '../errors/validation-error.js';
import type { SampledSequence, SampleResponse } from '../sampling/sample-response.js';
import { TopkLogprobs } from '../sampling/topk-logprobs.js';
import { elements, plainBytes } from './bytes.js';
import { SampleResponseSchema, type SampledSequence as SequenceMessage, type TopkLogprobs as TopkMessage } from './gen/tinker_public_pb.js';

const STOP_REASONS = ['stop', 'length'] as const;

/** The samples in a protobuf message. Many numbers are views of the bytes where those are aligned. */
export function readSampleResponse(bytes: Uint8Array): SampleResponse {
  const message = fromBinary(SampleResponseSchema, plainBytes(bytes), { readUnknownFields: false });
  return {
    sequences: message.sequences.map(readSequence),
    promptCacheHitTokens: message.promptCacheHitTokens,
    promptLogprobs: floats(message.promptLogprobs, 'prompt_logprobs'),
    topkPromptLogprobs: message.topkPromptLogprobs === undefined ? undefined : readMatrix(message.topkPromptLogprobs),
  };
}

function readSequence({ stopReason: reason, tokens, logprobs }: SequenceMessage): SampledSequence {
  const stopReason = STOP_REASONS[reason];
  if (stopReason === undefined) throw invalidResponse('SampleResponse', 'sequences', `has the unknown stop reason ${reason}`);
  return { stopReason, tokens: elements(Int32Array, tokens, 'tokens'), logprobs: floats(logprobs, 'logprobs') };
}

/** No bytes mean no numbers. */
function floats(bytes: Uint8Array | undefined, name: string): Float32Array | undefined {
  return bytes === undefined || bytes.length === 0 ? undefined : elements(Float32Array, bytes, name);
}

/** Without rows or cells there is no matrix. Too few bytes are an error, surplus bytes are ignored. */
function readMatrix({ tokenIds, logprobs, k, length }: TopkMessage): TopkLogprobs | undefined {
  const size = k * length * 4;
  if (size === 0) return undefined;
  if (tokenIds.length < size || logprobs.length < size) {
    throw invalidResponse('SampleResponse', 'topk_prompt_logprobs', `must hold ${length} × ${k} cells, but has too few bytes`);
  }
  return new TopkLogprobs({
    tokenIds: elements(Int32Array, tokenIds.subarray(0, size), 'token_ids'),
    logprobs: elements(Float32Array, logprobs.subarray(0, size), 'logprobs'),
    k,
    length,
  });
}
