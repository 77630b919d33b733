import { type RendererTokenizer, type SampledPiece, type Sampler, sampleInPieces } from '@tinkex/renderers';
import { ModelInput, type SamplingParams } from '@tinkex/types';
import * as z from 'zod';
import { GatewayFailure, toFailure } from '../failure.js';
import { eventStreamResponse, withFirst } from '../generation/event-stream.js';
import type { GatewayCall } from '../generation/gateway-context.js';
import { readBody, refuseSettings } from '../generation/request-body.js';
import { definedOnly } from '../generation/sampling-params.js';
import { rendererOf } from '../models/gateway-model.js';
import { encodeUsage } from './chat-completions.js';
import { textLogprobs } from './logprobs.js';
import { openAiError } from './openai-error.js';
import { SAMPLING_FIELDS, samplingParamsOf } from './sampling-fields.js';
import { TextReader } from './text-reader.js';

const SCHEMA = z.looseObject({
  model: z.string(),
  prompt: z.union([z.string(), z.array(z.string()).min(1), z.array(z.int()).min(1), z.array(z.array(z.int()).min(1)).min(1)]),
  ...SAMPLING_FIELDS,
  logprobs: z.int().min(0).max(20).nullish(),
  return_token_ids: z.boolean().nullish(),
});

const UNSUPPORTED = ['frequency_penalty', 'presence_penalty', 'logit_bias', 'suffix', 'echo', 'best_of'];
/** What OpenAI's API does when a request names no limit. */
const DEFAULT_MAX_TOKENS = 16;

/** One text to sample. */
interface TextSample {
  readonly index: number;
  readonly prompt: ModelInput;
  readonly samplingParams: SamplingParams;
}

/** `POST /v1/completions`: text in, text out, without a chat template. */
export async function completions(call: GatewayCall): Promise<Response> {
  const { context, signal } = call;
  const body = readBody(SCHEMA, call.body);
  refuseSettings(body, UNSUPPORTED, (value) => value === 0 || value === false || value === 1);
  const model = await context.models.find(body.model);
  if (model === undefined) throw new GatewayFailure('not_found', `The model \`${body.model}\` does not exist here.`, { param: 'model' });
  const { tokenizer } = rendererOf(model, undefined);
  const prompts = promptsOf(body.prompt, tokenizer);
  const params: SamplingParams = { ...model.samplingParams, ...definedOnly(samplingParamsOf(body)) };
  const { maxTokens = DEFAULT_MAX_TOKENS } = params;
  checkContext(prompts, maxTokens, model.contextLength);
  const samplingParams = { ...params, maxTokens };
  const samples = prompts
    .flatMap((prompt) => Array.from({ length: body.n ?? 1 }, (_, sample) => ({ prompt, sample })))
    .map(
      ({ prompt, sample }, index): TextSample => ({
        index,
        prompt,
        samplingParams:
          samplingParams.seed === undefined ? samplingParams : { ...samplingParams, seed: BigInt(samplingParams.seed) + BigInt(sample) },
      }),
    );
  const head = { id: context.createId('cmpl-'), object: 'text_completion', created: context.unixSeconds(), model: body.model };
  const pieceTokens = body.stream === true ? context.limits.pieceTokens : undefined;
  const open = (sample: TextSample) =>
    sampleText({
      sampler: model.sampler,
      tokenizer,
      sample,
      pieceTokens,
      logprobs: body.logprobs ?? undefined,
      returnsTokenIds: body.return_token_ids === true,
      signal,
    });
  const promptTokens = prompts.reduce((sum, prompt) => sum + prompt.length, 0);
  if (body.stream === true) {
    const includesUsage = body.stream_options?.include_usage === true;
    return eventStreamResponse(events(await withFirst(merge(samples.map(open))), { head, promptTokens, includesUsage }));
  }
  const texts = await Promise.all(samples.map((sample) => onlyPiece(open(sample))));
  const completionTokens = texts.reduce((sum, { piece }) => sum + piece.tokens.length, 0);
  return Response.json({ ...head, choices: texts.map(encodeText), usage: encodeUsage({ promptTokens, completionTokens }) });
}

/** What one piece of a sample adds. */
interface TextPiece {
  readonly index: number;
  readonly text: string;
  readonly piece: SampledPiece;
  readonly logprobs: object | null;
  readonly tokenIds?: readonly number[] | undefined;
  readonly finishReason: 'stop' | 'length' | null;
}

interface TextSampleOptions {
  readonly sampler: Sampler;
  readonly tokenizer: RendererTokenizer;
  readonly sample: TextSample;
  readonly pieceTokens: number | undefined;
  readonly logprobs: number | undefined;
  readonly returnsTokenIds: boolean;
  readonly signal: AbortSignal;
}

async function* sampleText(options: TextSampleOptions): AsyncGenerator<TextPiece, void, undefined> {
  const { sampler, tokenizer, sample, pieceTokens, logprobs, returnsTokenIds, signal } = options;
  const { prompt, samplingParams, index } = sample;
  const reader = new TextReader(tokenizer, samplingParams.stop);
  const decode = (tokens: Int32Array): string => tokenizer.decode(tokens);
  const topLogprobs = logprobs === undefined || logprobs === 0 ? undefined : logprobs;
  for await (const piece of sampleInPieces({ sampler, prompt, samplingParams, pieceTokens, topLogprobs, decode, signal })) {
    const offset = reader.length;
    const text = reader.push(piece.tokens, piece.stopReason !== undefined);
    const encoded = logprobs === undefined ? null : textLogprobs(tokenizer, piece, offset);
    const tokenIds = returnsTokenIds ? Array.from(piece.tokens) : undefined;
    yield { index, text, piece, tokenIds, logprobs: encoded, finishReason: piece.stopReason ?? null };
  }
}

/** The pieces of several samples, each as it comes. */
async function* merge(samples: readonly AsyncGenerator<TextPiece, void, undefined>[]): AsyncGenerator<TextPiece, void, undefined> {
  const next = (sample: AsyncGenerator<TextPiece, void, undefined>) => sample.next().then((result) => ({ sample, result }));
  const waiting = new Map(samples.map((sample) => [sample, next(sample)]));
  while (waiting.size > 0) {
    const { sample, result } = await Promise.race(waiting.values());
    if (result.done) waiting.delete(sample);
    else {
      waiting.set(sample, next(sample));
      yield result.value;
    }
  }
}

interface StreamHead {
  readonly head: object;
  readonly promptTokens: number;
  readonly includesUsage: boolean;
}

async function* events(
  pieces: AsyncGenerator<TextPiece, void, undefined>,
  { head, promptTokens, includesUsage }: StreamHead,
): AsyncGenerator<string, void, undefined> {
  const data = (json: object): string => `data: ${JSON.stringify(json)}\n\n`;
  let completionTokens = 0;
  try {
    for await (const text of pieces) {
      completionTokens += text.piece.tokens.length;
      yield data({ ...head, choices: [encodeText(text)], ...(includesUsage ? { usage: null } : {}) });
    }
    if (includesUsage) yield data({ ...head, choices: [], usage: encodeUsage({ promptTokens, completionTokens }) });
    yield 'data: [DONE]\n\n';
  } catch (error) {
    yield data(openAiError(toFailure(error)));
  }
}

/** The whole text of a sample that is not cut into pieces. */
async function onlyPiece(pieces: AsyncGenerator<TextPiece, void, undefined>): Promise<TextPiece> {
  const { value } = await pieces.next();
  return value as TextPiece;
}

function encodeText({ index, text, logprobs, tokenIds, finishReason }: TextPiece) {
  return { index, text, logprobs, finish_reason: finishReason, ...(tokenIds === undefined ? {} : { token_ids: tokenIds }) };
}

function promptsOf(prompt: z.infer<typeof SCHEMA>['prompt'], tokenizer: RendererTokenizer): ModelInput[] {
  if (typeof prompt === 'string') return [ModelInput.fromInts(Int32Array.from(tokenizer.encode(prompt)))];
  if (prompt.every((one) => typeof one === 'number')) return [ModelInput.fromInts(prompt)];
  return prompt.map((one) => ModelInput.fromInts(typeof one === 'string' ? Int32Array.from(tokenizer.encode(one)) : (one as number[])));
}

function checkContext(prompts: readonly ModelInput[], maxTokens: number, contextLength: number | undefined): void {
  const longest = Math.max(...prompts.map(({ length }) => length));
  if (contextLength !== undefined && longest + maxTokens > contextLength) {
    const asked = `${longest} tokens of prompt and ${maxTokens} of answer`;
    throw new GatewayFailure(
      'context_length',
      `This model's maximum context length is ${contextLength} tokens, but the request asks for ${asked}.`,
      {
        param: 'prompt',
      },
    );
  }
}
