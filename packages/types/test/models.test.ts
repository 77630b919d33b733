import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../src/index.js';
import { getLoraParamCount, getLr, getRecommendedRendererNames, modelInfo, modelNames } from '../src/models/index.js';

interface Failure {
  readonly error: string;
}
type Outcome = { readonly ok: number } | Failure;

interface TableRow {
  readonly model: string;
  readonly version: string;
  readonly size: string;
  readonly is_chat: boolean;
  readonly is_vl: boolean;
  readonly is_audio_in: boolean;
  readonly renderers: readonly string[];
  readonly hidden_size: number;
  readonly lora_params_per_rank: Readonly<Record<'mlp' | 'attn' | 'unembed', number>>;
  readonly lora_param_count_rank32: number;
  readonly lr_lora: number | { readonly err: string };
  readonly lr_full: number | { readonly err: string };
}

const read = <T>(name: string): T => JSON.parse(readFileSync(new URL(`vectors/models/${name}.json`, import.meta.url), 'utf8')) as T;
const tables = read<{
  readonly models: readonly TableRow[];
  readonly lookup_edge_cases: readonly { readonly model: string; readonly renderers?: readonly string[]; readonly err?: string }[];
}>('tables');
const attributes = read<{
  readonly cases: readonly { readonly input: string; readonly expected: Readonly<Record<string, unknown>> }[];
}>('model-info');
const hyperparams = read<{
  readonly tolerance: number;
  readonly cases: readonly { readonly input: Readonly<Record<string, unknown>>; readonly expected: Readonly<Record<string, unknown>> }[];
}>('hyperparams');

/** The code of our error for each class that the reference raises. */
const LOOKUP_CODES: Readonly<Record<string, string>> = {
  ValueError: 'TINKEX_MODEL_NAME',
  ConfigurationError: 'TINKEX_MODEL_ORGANIZATION',
  KeyError: 'TINKEX_MODEL_UNKNOWN',
};
const LR_CODES: Readonly<Record<string, string>> = {
  NotImplementedError: 'TINKEX_LR_UNCALIBRATED',
  ConfigurationError: 'TINKEX_LR_UNKNOWN',
};

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (ConfigurationError.isInstance(error)) return error.code;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

/** `pow` of two languages may differ in the last bit. */
function expectLr(actual: () => number, expected: number | string): void {
  if (typeof expected === 'string') expect(codeOf(actual)).toBe(LR_CODES[expected]);
  else expect(Math.abs(actual() / expected - 1)).toBeLessThan(hyperparams.tolerance);
}

const expectedOf = (value: unknown): number | string =>
  typeof value === 'number' ? value : 'ok' in (value as Outcome) ? (value as { ok: number }).ok : (value as Failure).error;

describe('the model table', () => {
  it('has exactly the models of the reference, in its order', () => {
    expect(modelNames()).toEqual(tables.models.map(({ model }) => model));
  });

  it.each(tables.models)('$model has the reference’s values', (row) => {
    const { model } = row;
    expect(modelInfo(model)).toMatchObject({
      model,
      organization: model.split('/')[0],
      version: row.version,
      size: row.size,
      isChat: row.is_chat,
      modalities: ['text', ...(row.is_vl ? ['image'] : []), ...(row.is_audio_in ? ['audio'] : [])],
      renderers: row.renderers,
      hiddenSize: row.hidden_size,
      loraParamsPerRank: row.lora_params_per_rank,
      // An adapter of the output matrix has one column per hidden unit and one row per token.
      vocabularySize: row.lora_params_per_rank.unembed - row.hidden_size,
    });
    expect(getRecommendedRendererNames(model)).toEqual(row.renderers);
    expect(getLoraParamCount(model)).toBe(row.lora_param_count_rank32);
    expectLr(() => getLr(model), typeof row.lr_lora === 'number' ? row.lr_lora : row.lr_lora.err);
    expectLr(() => getLr(model, { isLora: false }), typeof row.lr_full === 'number' ? row.lr_full : row.lr_full.err);
  });

  it.each(tables.lookup_edge_cases)('looks up the renderers of $model', ({ model, renderers, err }) => {
    if (err !== undefined) expect(codeOf(() => getRecommendedRendererNames(model))).toBe(LOOKUP_CODES[err]);
    else expect(getRecommendedRendererNames(model)).toEqual(renderers);
  });

  it.each(attributes.cases)('answers for $input as model_info does', ({ input, expected }) => {
    if ('error' in expected) expect(codeOf(() => modelInfo(input))).toBe(LOOKUP_CODES[String(expected['error'])]);
    else {
      const { modalities, version, size, isChat, renderers } = modelInfo(input);
      const [isVision, isAudioIn] = [modalities.includes('image'), modalities.includes('audio')];
      expect({ version, size, isChat, isVision, isAudioIn, renderers }).toEqual(expected);
    }
  });

  it.each(hyperparams.cases.map((one, index) => ({ ...one, index })))('gives hyperparameters as in case $index: $input', (one) => {
    const { model, lora_rank: rank, train_mlp: trainMlp, train_attn: trainAttn, train_unembed: trainUnembed } = one.input;
    const name = model as string;
    const count = () => getLoraParamCount(name, { rank, trainMlp, trainAttn, trainUnembed } as Parameters<typeof getLoraParamCount>[1]);
    const { hiddenSize, lrLora, lrFull, loraParamsRank32, byComponentPerRank } = one.expected;
    const expectedCount = expectedOf(loraParamsRank32 ?? one.expected);
    if (typeof expectedCount === 'number') expect(count()).toBe(expectedCount);
    else expect(count).toThrow(ConfigurationError);
    if (hiddenSize !== undefined) expect(modelInfo(name).hiddenSize).toBe(expectedOf(hiddenSize));
    if (byComponentPerRank !== undefined) expect(modelInfo(name).loraParamsPerRank).toEqual(byComponentPerRank);
    if (lrLora !== undefined) expectLr(() => getLr(name), expectedOf(lrLora));
    if (lrFull !== undefined) expectLr(() => getLr(name, { isLora: false }), expectedOf(lrFull));
  });

  it('names the model and what to do in each refusal', () => {
    expect(() => modelInfo('nollama')).toThrow('"nollama" is not a model name. Write it as organization/model, such as Qwen/Qwen3-8B.');
    expect(() => modelInfo('acme/x')).toThrow(/organization "acme" of "acme\/x"/);
    expect(() => modelInfo('openai/x')).toThrow('Models of openai: openai/gpt-oss-20b, openai/gpt-oss-120b.');
    expect(() => getLr('thinkingmachines/Inkling-X')).toThrow(
      'The learning rate of "thinkingmachines/Inkling-X" has not been calibrated yet.',
    );
    expect(codeOf(() => getLr('Qwen/Unknown'))).toBe('TINKEX_MODEL_UNKNOWN');
  });
});
