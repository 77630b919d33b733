import { InvalidArgumentError, type LanguageModelV3CallOptions, type SharedV3Warning } from '@ai-sdk/provider';
import { type GenerationRequest, jsonObjectCheck, jsonTextCheck, type ToolChoice } from '@tinkex/gateway/generation';
import type { ToolSpec } from '@tinkex/renderers';
import type { JsonObject } from '@tinkex/types';
import { promptMessages } from './prompt-messages.js';
import type { TinkexCallOptions } from './provider-options.js';

/** A call of the AI SDK in our own terms, and what of it has no effect. */
export interface ReadCall {
  readonly request: GenerationRequest;
  readonly warnings: SharedV3Warning[];
}

/** Reads a call. Settings that the service does not have give warnings. */
export function readCall(model: string, options: LanguageModelV3CallOptions, own: TinkexCallOptions): ReadCall {
  const warnings: SharedV3Warning[] = [];
  for (const feature of ['presencePenalty', 'frequencyPenalty'] as const) {
    if (options[feature]) warnings.push({ type: 'unsupported', feature });
  }
  const tools = functionTools(options, warnings);
  const request: GenerationRequest = {
    model,
    messages: promptMessages(options.prompt),
    prefill: own.prefill,
    tools,
    toolChoice: toolChoiceOf(options.toolChoice, tools),
    numSamples: 1,
    effort: own.reasoningEffort,
    checkText: textCheckOf(options.responseFormat),
    samplingParams: {
      maxTokens: options.maxOutputTokens,
      temperature: options.temperature,
      topP: options.topP,
      topK: options.topK,
      seed: options.seed,
      stop: options.stopSequences === undefined || options.stopSequences.length === 0 ? undefined : options.stopSequences,
    },
  };
  return { request, warnings };
}

function functionTools({ tools = [] }: LanguageModelV3CallOptions, warnings: SharedV3Warning[]): ToolSpec[] {
  return tools.flatMap((tool) => {
    if (tool.type === 'function') {
      return [{ name: tool.name, description: tool.description ?? '', parameters: tool.inputSchema as unknown as JsonObject }];
    }
    warnings.push({ type: 'unsupported', feature: `provider tool ${tool.id}` });
    return [];
  });
}

function toolChoiceOf(choice: LanguageModelV3CallOptions['toolChoice'], tools: readonly ToolSpec[]): ToolChoice {
  if (choice === undefined) return 'auto';
  if (choice.type !== 'tool') {
    if (choice.type !== 'required' || tools.length > 0) return choice.type;
    throw new InvalidArgumentError({ argument: 'toolChoice', message: 'toolChoice is required, but there are no tools.' });
  }
  if (tools.some(({ name }) => name === choice.toolName)) return { name: choice.toolName };
  throw new InvalidArgumentError({
    argument: 'toolChoice',
    message: `toolChoice names ${choice.toolName}, which is not one of the tools.`,
  });
}

function textCheckOf(format: LanguageModelV3CallOptions['responseFormat']): GenerationRequest['checkText'] {
  if (format?.type !== 'json') return undefined;
  return format.schema === undefined ? jsonObjectCheck : jsonTextCheck(format.schema, 'responseFormat.schema');
}
