import { fromBinary } from '@bufbuild/protobuf';
import { invalidResponse } from '../errors/validation-error.js';
import { withPlainJson } from '../json/plain-json.js';
import type { PromptAltTokens, SampledSequence, SampleResponse } from '../sampling/sample-response.js';
import { TopkLogprobs } from '../sampling/topk-logprobs.js';
import { elements, plainBytes } from './bytes.js';
import {
  type PromptAltTokens as AltTokensMessage,
  SampleResponseSchema,
  type SampledSequence as SequenceMessage,
  type TopkLogprobs as TopkMessage,
} from './gen/tinker_public_pb.js';
import { readTensor } from './tensor-reader.js';

const STOP_REASONS = ['stop', 'length'] as const;

/** The samples in a protobuf message. Many numbers are views of the bytes where those are aligned. */
export function readSampleResponse(bytes: Uint8Array): SampleResponse {
  const message = fromBinary(SampleResponseSchema, plainBytes(bytes), { readUnknownFields: false });
  return withPlainJson({
    sequences: message.sequences.map(readSequence),
    promptCacheHitTokens: message.promptCacheHitTokens,
    promptLogprobs: floats(message.promptLogprobs, 'prompt_logprobs'),
    topkPromptLogprobs: readMatrix(message.topkPromptLogprobs, 'topk_prompt_logprobs'),
    targetPromptLogprobs: message.targetPromptLogprobs && readTensor(message.targetPromptLogprobs, 'target_prompt_logprobs'),
    promptAltTokens: message.promptAltTokens && readAltTokens(message.promptAltTokens),
  });
}

function readSequence({ stopReason: reason, tokens, logprobs, topkSampledLogprobs: topk }: SequenceMessage): SampledSequence {
  const stopReason = STOP_REASONS[reason];
  if (stopReason === undefined) throw invalidResponse('SampleResponse', 'sequences', `has the unknown stop reason ${reason}`);
  return withPlainJson({
    stopReason,
    tokens: elements(Int32Array, tokens, 'tokens'),
    logprobs: floats(logprobs, 'logprobs'),
    topkLogprobs: readMatrix(topk, 'topk_sampled_logprobs'),
  });
}

function readAltTokens({ tokens, logprobs }: AltTokensMessage): PromptAltTokens {
  if (tokens === undefined || logprobs === undefined) {
    throw invalidResponse('SampleResponse', 'prompt_alt_tokens', 'must have both tokens and logprobs');
  }
  return { tokens: readTensor(tokens, 'prompt_alt_tokens.tokens'), logprobs: readTensor(logprobs, 'prompt_alt_tokens.logprobs') };
}

/** No bytes mean no numbers. */
function floats(bytes: Uint8Array | undefined, name: string): Float32Array | undefined {
  return bytes === undefined || bytes.length === 0 ? undefined : elements(Float32Array, bytes, name);
}

/** Without rows or cells there is no matrix. Too few bytes are an error, surplus bytes are ignored. */
function readMatrix(message: TopkMessage | undefined, name: string): TopkLogprobs | undefined {
  if (message === undefined) return undefined;
  const { tokenIds, logprobs, k, length } = message;
  const size = k * length * 4;
  if (size === 0) return undefined;
  if (tokenIds.length < size || logprobs.length < size) {
    throw invalidResponse('SampleResponse', name, `must hold ${length} × ${k} cells, but has too few bytes`);
  }
  return new TopkLogprobs({
    tokenIds: elements(Int32Array, tokenIds.subarray(0, size), 'token_ids'),
    logprobs: elements(Float32Array, logprobs.subarray(0, size), 'logprobs'),
    k,
    length,
  });
}
