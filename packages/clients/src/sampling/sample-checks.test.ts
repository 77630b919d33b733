import { ModelInput, type SampleResponse, TensorData, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { checkHonored, checkPromptScores, withSequenceIds } from './sample-checks.js';
import { copySettings, type SampleInput } from './sample-input.js';

interface TensorVector {
  readonly data: number[];
  readonly dtype: 'int64' | 'float32';
  readonly shape?: number[];
}

interface ChecksInput {
  readonly include_prompt_logprobs?: boolean;
  readonly prompt_alt_tokens_k?: number;
  readonly prompt_logprobs_last_n?: number;
  readonly target_prompt_logprobs?: TensorVector;
  readonly response?: { readonly prompt_alt_tokens?: boolean; readonly prompt_logprobs?: (number | null)[] };
}

function tensorOf({ data, dtype, shape }: TensorVector): TensorData {
  const values = dtype === 'int64' ? BigInt64Array.from(data, BigInt) : Float32Array.from(data);
  return new TensorData({ data: values, dtype, shape });
}

function responseOf({
  prompt_alt_tokens: hasAlternatives,
  prompt_logprobs: logprobs,
}: NonNullable<ChecksInput['response']>): SampleResponse {
  const matrix = TensorData.fromArray([[1, 2]], 'int64');
  return {
    sequences: [],
    promptCacheHitTokens: 0,
    promptAltTokens: hasAlternatives ? { tokens: matrix, logprobs: matrix } : undefined,
    promptLogprobs: logprobs && Float32Array.from(logprobs, (logprob) => logprob ?? Number.NaN),
  };
}

function settingsOf(input: Omit<SampleInput, 'prompt'>) {
  return copySettings({ prompt: [], ...input }, false);
}

describe('sample-checks.json', () => {
  const cases = readVectors<ChecksInput, { ok?: boolean; error?: string }>('sample-checks');

  it('finds the cases', () => {
    expect(cases).toHaveLength(15);
  });

  it.each(cases)('$name', ({ input, expected }) => {
    const settings = settingsOf({
      includePromptLogprobs: input.include_prompt_logprobs,
      promptAltTokensK: input.prompt_alt_tokens_k,
      promptLogprobsLastN: input.prompt_logprobs_last_n,
      targetPromptLogprobs: input.target_prompt_logprobs && tensorOf(input.target_prompt_logprobs),
    });
    const before = () => checkPromptScores(settings, ModelInput.fromInts([1, 2]));
    const after = () => checkHonored(settings, responseOf(input.response ?? {}));
    if (expected.error === 'before sending') {
      expect(before).toThrow(ValidationError);
      return;
    }
    before();
    if (expected.error === undefined) after();
    else expect(after).toThrow(ValidationError);
  });
});

describe('checkPromptScores', () => {
  const targets = (rows: number[][]) => settingsOf({ targetPromptLogprobs: TensorData.fromArray(rows, 'int64') });

  it('names the field and the cure', () => {
    const prompt = ModelInput.fromInts([1, 2, 3]);
    expect(() => checkPromptScores(settingsOf({ promptLogprobsLastN: 1 }), prompt)).toThrow(
      /promptLogprobsLastN has no effect alone; set includePromptLogprobs/,
    );
    expect(() => checkPromptScores(targets([[5]]), prompt)).toThrow(/targetPromptLogprobs must have 2 rows/);
    expect(() => checkPromptScores(targets([[-1], [-1]]), prompt)).toThrow(/targetPromptLogprobs names no token/);
    checkPromptScores(targets([[5], [-1]]), prompt);
  });
});

describe('sequence-ids.json', () => {
  const cases = readVectors<{ sample_sequence_ids: string[] | null; num_sequences: number }, { sequence_ids?: string[] }>('sequence-ids');

  it('finds the cases', () => {
    expect(cases).toHaveLength(6);
  });

  it.each(cases)('$name', ({ input, expected }) => {
    const sequences = Array.from({ length: input.num_sequences }, () => ({ tokens: new Int32Array(), stopReason: 'stop' as const }));
    const { sequences: named } = withSequenceIds({ sequences, promptCacheHitTokens: 0 }, input.sample_sequence_ids ?? undefined);
    // Where the reference fails, the IDs stay unset.
    expect(named.map(({ sequenceId }) => sequenceId)).toEqual(expected.sequence_ids ?? sequences.map(() => undefined));
  });
});
