import { fromOpenAI } from '@tinkex/renderers';
import * as z from 'zod';
import { GatewayFailure } from '../failure.js';
import type { GenerationRequest, ToolChoice } from '../generation/generation-request.js';
import { jsonObjectCheck, jsonTextCheck } from '../generation/json-schema.js';
import { readBody, refuseSettings } from '../generation/request-body.js';
import { SAMPLING_FIELDS, samplingParamsOf } from './sampling-fields.js';

const SCHEMA = z.looseObject({
  model: z.string(),
  messages: z.array(z.unknown()).min(1),
  ...SAMPLING_FIELDS,
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  tools: z.array(z.unknown()).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'required']),
      z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
    ])
    .nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('json_object') }),
      z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: z.unknown() }) }),
    ])
    .nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
});

/** Settings that would change an answer, and that the native API does not have. */
const UNSUPPORTED = [
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'functions',
  'function_call',
  'audio',
  'web_search_options',
  'prediction',
];

/** A request for a chat completion. */
export interface ChatRequest {
  readonly generation: GenerationRequest;
  readonly hasLogprobs: boolean;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
}

/** Reads a request for a chat completion. Throws a failure that names the field. */
export function readChatRequest(json: unknown): ChatRequest {
  const body = readBody(SCHEMA, json);
  refuseSettings(body, UNSUPPORTED, (value) => value === 0 || (typeof value === 'object' && Object.keys(value as object).length === 0));
  const { messages, tools = [] } = fromOpenAI({ messages: body.messages, tools: body.tools ?? undefined }, 'request');
  const toolChoice = toolChoiceOf(
    body.tool_choice ?? undefined,
    tools.map(({ name }) => name),
  );
  if (body.top_logprobs && body.logprobs !== true) {
    throw new GatewayFailure('invalid_request', 'top_logprobs needs logprobs: true.', { param: 'top_logprobs' });
  }
  return {
    generation: {
      model: body.model,
      messages,
      tools,
      toolChoice,
      hasParallelToolCalls: body.parallel_tool_calls ?? true,
      numSamples: body.n ?? 1,
      topLogprobs: body.top_logprobs || undefined,
      effort: body.reasoning_effort ?? undefined,
      checkText: textCheckOf(body.response_format ?? undefined),
      samplingParams: samplingParamsOf({ ...body, max_tokens: body.max_completion_tokens ?? body.max_tokens }),
    },
    hasLogprobs: body.logprobs === true,
    isStream: body.stream === true,
    includesUsage: body.stream_options?.include_usage === true,
  };
}

type Body = z.infer<typeof SCHEMA>;

function toolChoiceOf(choice: NonNullable<Body['tool_choice']> | undefined, names: readonly string[]): ToolChoice {
  if (choice === undefined) return 'auto';
  const wanted = typeof choice === 'string' ? choice : { name: choice.function.name };
  if (typeof wanted === 'object' && !names.includes(wanted.name)) {
    throw new GatewayFailure('invalid_request', `tool_choice names ${wanted.name}, which is not one of the tools.`, {
      param: 'tool_choice',
    });
  }
  if (wanted === 'required' && names.length === 0) {
    throw new GatewayFailure('invalid_request', 'tool_choice is required, but there are no tools.', { param: 'tool_choice' });
  }
  return wanted;
}

function textCheckOf(format: NonNullable<Body['response_format']> | undefined): GenerationRequest['checkText'] {
  if (format === undefined || format.type === 'text') return undefined;
  return format.type === 'json_object' ? jsonObjectCheck : jsonTextCheck(format.json_schema.schema, 'response_format.json_schema.schema');
}
