import { type ModelInput, type SampleResponse, ValidationError } from '@tinkex/types';
import { promptTokenCount, type SampleSettings } from './sample-input.js';

/**
 * Checks what a call asks for about its prompt, before anything is sent.
 *
 * @throws ValidationError that names the field and what to do.
 */
export function checkPromptScores(settings: SampleSettings, prompt: ModelInput): void {
  const { promptAltTokensK: k = 0, promptLogprobsLastN: lastN, promptLogprobs, targetPromptLogprobs: targets } = settings;
  if (!Number.isInteger(k) || k < 0) throw invalid('promptAltTokensK', `must be a whole number of at least 0, got ${k}`);
  if (lastN !== undefined) {
    if (!Number.isInteger(lastN) || lastN < 1) throw invalid('promptLogprobsLastN', `must be a whole number of at least 1, got ${lastN}`);
    if (!promptLogprobs) throw invalid('promptLogprobsLastN', 'has no effect alone; set includePromptLogprobs as well');
  }
  if (targets !== undefined) checkTargets(targets, prompt);
}

function checkTargets(targets: NonNullable<SampleSettings['targetPromptLogprobs']>, prompt: ModelInput): void {
  const { dtype, shape, data } = targets;
  if (dtype !== 'int64' || shape?.length !== 2) {
    const got = `${dtype} ${shape === undefined ? 'without a shape' : `[${shape.join(', ')}]`}`;
    throw invalid('targetPromptLogprobs', `must hold token IDs: int64 of shape [prompt tokens - 1, K], got ${got}`);
  }
  const tokens = promptTokenCount(prompt);
  if (tokens !== undefined && shape[0] !== tokens - 1) {
    throw invalid('targetPromptLogprobs', `must have ${tokens - 1} rows, one for each prompt token after the first, got ${shape[0]}`);
  }
  if (!(data as BigInt64Array).some((id) => id !== -1n)) {
    throw invalid('targetPromptLogprobs', 'names no token; leave it out, or put the IDs to score in place of -1');
  }
}

function invalid(path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'request', subject: 'SampleInput', issues: [{ path, message }] });
}

/**
 * Checks that the server has done what the call asked for: a server that does not know an option ignores it and answers as usual.
 *
 * @throws ValidationError that names the option.
 */
export function checkHonored({ promptAltTokensK = 0, promptLogprobsLastN: lastN }: SampleSettings, response: SampleResponse): void {
  if (promptAltTokensK > 0 && response.promptAltTokens === undefined) {
    throw ignored('promptAltTokens', 'is missing: this server does not know promptAltTokensK');
  }
  const { promptLogprobs } = response;
  if (lastN === undefined || promptLogprobs === undefined) return;
  const unwanted = promptLogprobs.subarray(0, Math.max(promptLogprobs.length - lastN, 0)).findIndex((logprob) => !Number.isNaN(logprob));
  if (unwanted >= 0) {
    throw ignored(`promptLogprobs[${unwanted}]`, `is before the last ${lastN} tokens: this server does not know promptLogprobsLastN`);
  }
}

/**
 * Checks that no sample is missing: an answer without a length that was cut off between two sequences looks like a whole one.
 *
 * @throws ValidationError that names both numbers.
 */
export function checkCount({ numSamples }: SampleSettings, { sequences: { length } }: SampleResponse): void {
  if (length !== numSamples) throw ignored('sequences', `has ${length} entries, though ${numSamples} were requested; sample again`);
}

function ignored(path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'response', subject: 'SampleResponse', issues: [{ path, message }] });
}

/**
 * Gives the sequences of a response the IDs that the server gave them when it accepted the request. Older servers give none. The objects are new from the
 * codec and stay the same ones: a copy would lose how they are written as JSON.
 */
export function withSequenceIds(response: SampleResponse, ids: readonly string[] | undefined): SampleResponse {
  const { sequences } = response;
  if (ids === undefined || ids.length !== sequences.length) return response;
  sequences.forEach((sequence, index) => {
    Object.assign(sequence, { sequenceId: ids[index] });
  });
  return response;
}
