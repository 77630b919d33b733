import type { Message, ToolSpec } from '@tinkex/renderers';
import * as z from 'zod';
import { GatewayFailure } from '../failure.js';
import type { GenerationRequest, ToolChoice } from '../generation/generation-request.js';
import { jsonTextCheck } from '../generation/json-schema.js';
import { contentText } from '../generation/message-text.js';
import { readBody } from '../generation/request-body.js';
import type { ReasoningEffort } from '../models/gateway-model.js';
import { BLOCK, decodeMessages } from './message-blocks.js';

const TEXT_BLOCK = z.looseObject({ type: z.literal('text'), text: z.string() });

const PARALLEL = { disable_parallel_tool_use: z.boolean().nullish() } as const;

/** What a request to count tokens and a request for a message have in common. */
const COUNTED = z.looseObject({
  model: z.string(),
  system: z.union([z.string(), z.array(TEXT_BLOCK)]).nullish(),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.union([z.string(), z.array(BLOCK)]) })).min(1),
  tools: z
    .array(z.looseObject({ name: z.string(), description: z.string().nullish(), input_schema: z.record(z.string(), z.unknown()) }))
    .nullish(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.enum(['auto', 'any', 'none']), ...PARALLEL }),
      z.looseObject({ type: z.literal('tool'), name: z.string(), ...PARALLEL }),
    ])
    .nullish(),
  thinking: z.looseObject({ type: z.enum(['enabled', 'disabled', 'adaptive']) }).nullish(),
  output_config: z
    .looseObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.looseObject({ type: z.literal('json_schema'), schema: z.unknown() }).nullish(),
    })
    .nullish(),
});

const SCHEMA = COUNTED.extend({
  max_tokens: z.int().min(1),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  stream: z.boolean().nullish(),
});

/** A request for a message. */
export interface MessagesRequest {
  readonly generation: GenerationRequest;
  readonly isStream: boolean;
}

/** Reads a request for a message. Throws a failure that names the field. */
export function readMessagesRequest(json: unknown): MessagesRequest {
  const body = readBody(SCHEMA, json);
  const schema = body.output_config?.format?.schema;
  return {
    generation: {
      ...countedPart(body),
      checkText: schema === undefined ? undefined : jsonTextCheck(schema, 'output_config.format.schema'),
      samplingParams: {
        maxTokens: body.max_tokens,
        temperature: body.temperature ?? undefined,
        topP: body.top_p ?? undefined,
        topK: body.top_k ?? undefined,
        stop: body.stop_sequences ?? undefined,
      },
    },
    isStream: body.stream === true,
  };
}

/** Reads a request to count the tokens of a prompt. */
export function readCountRequest(json: unknown): GenerationRequest {
  return { ...countedPart(readBody(COUNTED, json)), samplingParams: {} };
}

type Counted = z.infer<typeof COUNTED>;

function countedPart(body: Counted) {
  const { messages, prefill } = splitPrefill(decodeMessages(body.messages));
  const tools = (body.tools ?? []).map(({ name, description, input_schema }): ToolSpec => {
    return { name, description: description ?? '', parameters: input_schema as ToolSpec['parameters'] };
  });
  const system = typeof body.system === 'string' ? body.system : (body.system ?? []).map(({ text }) => text).join('\n\n');
  return {
    model: body.model,
    messages: system === '' ? messages : [{ role: 'system', content: system }, ...messages],
    prefill,
    tools,
    toolChoice: toolChoiceOf(body.tool_choice ?? undefined, tools),
    hasParallelToolCalls: body.tool_choice?.disable_parallel_tool_use !== true,
    numSamples: 1,
    effort: effortOf(body),
  };
}

/** An assistant message at the end is how the answer begins. */
function splitPrefill(messages: readonly Message[]): { readonly messages: readonly Message[]; readonly prefill?: string } {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.toolCalls !== undefined) return { messages };
  return { messages: messages.slice(0, -1), prefill: contentText(last) };
}

function toolChoiceOf(choice: NonNullable<Counted['tool_choice']> | undefined, tools: readonly ToolSpec[]): ToolChoice {
  if (choice === undefined || choice.type === 'auto') return 'auto';
  if (choice.type === 'none') return 'none';
  if (tools.length === 0) throw new GatewayFailure('invalid_request', 'tool_choice needs tools.', { param: 'tool_choice' });
  if (choice.type === 'any') return 'required';
  if (!tools.some(({ name }) => name === choice['name'])) {
    throw new GatewayFailure('invalid_request', `tool_choice names ${choice['name']}, which is not one of the tools.`, {
      param: 'tool_choice',
    });
  }
  return { name: choice['name'] as string };
}

function effortOf({ thinking, output_config: config }: Counted): ReasoningEffort | undefined {
  if (thinking?.type === 'disabled') return 'none';
  return config?.effort === 'max' ? 'xhigh' : (config?.effort ?? undefined);
}
