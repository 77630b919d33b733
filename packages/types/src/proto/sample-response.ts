import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { invalidResponse } from '../errors/invalid.js';
import { TopkPromptLogprobs } from '../sampling/topk-prompt-logprobs.js';
import { viewBytes } from '../tensor/byte-views.js';
import type { SampledSequence, SampleResponse } from '../wire/sampling.js';
import { elements } from './elements.js';
import { BYTES, nestedEnd, readerOf, readMessage, VARINT } from './reader.js';
import { delimitedSize, SizedWriter, varintSize } from './writer.js';

const NOTHING: Uint8Array = new Uint8Array(0);
const STOP_REASONS = ['stop', 'length'] as const;

/** The samples that protobuf bytes hold. Many numbers are views on the bytes where those are aligned. */
export function readSampleResponse(bytes: Uint8Array): SampleResponse {
  const reader = readerOf(bytes);
  const sequences: SampledSequence[] = [];
  let promptLogprobs: Uint8Array = NOTHING;
  let topk: TopkParts | undefined;
  let promptCacheHitTokens = 0;
  readMessage(reader, reader.len, (field, layout, end) => {
    if (field === 1 && layout === BYTES) sequences.push(readSequence(reader, nestedEnd(reader, end)));
    else if (field === 2 && layout === BYTES) promptLogprobs = reader.bytes();
    else if (field === 3 && layout === BYTES) {
      topk ??= { tokenIds: NOTHING, logprobs: NOTHING, k: 0, promptLength: 0 };
      readTopk(reader, nestedEnd(reader, end), topk);
    } else if (field === 4 && layout === VARINT) promptCacheHitTokens = reader.int32();
    else return false;
    return true;
  });
  return {
    // A list that was pushed to has room for many more; most responses have one sequence.
    sequences: sequences.slice(),
    promptCacheHitTokens,
    promptLogprobs: promptLogprobs.length === 0 ? undefined : elements(Float32Array, promptLogprobs, 'prompt_logprobs'),
    topkPromptLogprobs: topk === undefined ? undefined : toMatrix(topk),
  };
}

function readSequence(reader: BinaryReader, end: number): SampledSequence {
  let reason = 0;
  let tokens: Uint8Array = NOTHING;
  let logprobs: Uint8Array = NOTHING;
  readMessage(reader, end, (field, layout) => {
    if (field === 1 && layout === VARINT) reason = reader.int32();
    else if (field === 2 && layout === BYTES) tokens = reader.bytes();
    else if (field === 3 && layout === BYTES) logprobs = reader.bytes();
    else return false;
    return true;
  });
  const stopReason = STOP_REASONS[reason];
  if (stopReason === undefined) throw invalidResponse('SampleResponse', 'sequences', `has the unknown stop reason ${reason}`);
  return {
    stopReason,
    tokens: elements(Int32Array, tokens, 'tokens'),
    logprobs: logprobs.length === 0 ? undefined : elements(Float32Array, logprobs, 'logprobs'),
  };
}

interface TopkParts {
  tokenIds: Uint8Array;
  logprobs: Uint8Array;
  k: number;
  promptLength: number;
}

function readTopk(reader: BinaryReader, end: number, into: TopkParts): void {
  readMessage(reader, end, (field, layout) => {
    if (field === 1 && layout === BYTES) into.tokenIds = reader.bytes();
    else if (field === 2 && layout === BYTES) into.logprobs = reader.bytes();
    else if (field === 3 && layout === VARINT) into.k = reader.uint32();
    else if (field === 4 && layout === VARINT) into.promptLength = reader.uint32();
    else return false;
    return true;
  });
}

/** Without rows or cells there is no matrix. Too few bytes are an error, surplus ones are ignored. */
function toMatrix({ tokenIds, logprobs, k, promptLength }: TopkParts): TopkPromptLogprobs | undefined {
  const size = k * promptLength * 4;
  if (size === 0) return undefined;
  if (tokenIds.length < size || logprobs.length < size) {
    throw invalidResponse(
      'SampleResponse',
      'topk_prompt_logprobs',
      `must hold ${promptLength} × ${k} cells, but has fewer bytes than that`,
    );
  }
  return new TopkPromptLogprobs({
    tokenIds: elements(Int32Array, tokenIds.subarray(0, size), 'token_ids'),
    logprobs: elements(Float32Array, logprobs.subarray(0, size), 'logprobs'),
    k,
    promptLength,
  });
}

/** The protobuf form of samples. */
export function writeSampleResponse(response: SampleResponse): Uint8Array {
  const { sequences, promptLogprobs, topkPromptLogprobs: topk, promptCacheHitTokens: hits } = response;
  const sizes = sequences.map(sequenceSize);
  let size = sizes.reduce((sum, sequence) => sum + delimitedSize(sequence), 0);
  if (promptLogprobs !== undefined) size += delimitedSize(promptLogprobs.byteLength);
  if (topk !== undefined) size += delimitedSize(topkSize(topk));
  if (hits !== 0) size += hits < 0 ? 11 : 1 + varintSize(hits);

  const writer = new SizedWriter(size);
  sequences.forEach((sequence, index) => {
    writer.begin(1, sizes[index] as number);
    if (sequence.stopReason === 'length') writer.varint(1, 1);
    if (sequence.tokens.length > 0) writer.bytes(2, viewBytes(sequence.tokens));
    if (sequence.logprobs !== undefined) writer.bytes(3, viewBytes(sequence.logprobs));
  });
  if (promptLogprobs !== undefined) writer.bytes(2, viewBytes(promptLogprobs));
  if (topk !== undefined) writeTopk(writer, topk);
  if (hits < 0) writer.negativeInt32(4, hits);
  else if (hits > 0) writer.varint(4, hits);
  return writer.finish();
}

function sequenceSize({ stopReason, tokens, logprobs }: SampledSequence): number {
  return (
    (stopReason === 'length' ? 2 : 0) +
    (tokens.length === 0 ? 0 : delimitedSize(tokens.byteLength)) +
    (logprobs === undefined ? 0 : delimitedSize(logprobs.byteLength))
  );
}

function topkSize({ tokenIds, logprobs, k, promptLength }: TopkPromptLogprobs): number {
  return (
    (tokenIds.length === 0 ? 0 : delimitedSize(tokenIds.byteLength) + delimitedSize(logprobs.byteLength)) +
    (k === 0 ? 0 : 1 + varintSize(k)) +
    (promptLength === 0 ? 0 : 1 + varintSize(promptLength))
  );
}

function writeTopk(writer: SizedWriter, topk: TopkPromptLogprobs): void {
  writer.begin(3, topkSize(topk));
  if (topk.tokenIds.length > 0) {
    writer.bytes(1, viewBytes(topk.tokenIds));
    writer.bytes(2, viewBytes(topk.logprobs));
  }
  if (topk.k > 0) writer.varint(3, topk.k);
  if (topk.promptLength > 0) writer.varint(4, topk.promptLength);
}
