import type { Attributes } from '@opentelemetry/api';
import type { SamplingCallEvent } from '@tinkex/types';
import { readEnvironment } from '../environment.js';
import { safeText } from '../events/safe-text.js';

/** `gen_ai.operation.name` of sampling. */
export const GEN_AI_OPERATION = 'text_completion';

/** Which version of the semantic conventions for generative AI is followed: what was always there, or the latest experimental one. */
export type GenAiConventions = 'basic' | 'latest';

/** What the application opted in to: the variable lists names, separated by commas. */
export function genAiConventions(): GenAiConventions {
  const names = readEnvironment('OTEL_SEMCONV_STABILITY_OPT_IN') ?? '';
  return names.split(',').some((name) => name.trim() === 'gen_ai_latest_experimental') ? 'latest' : 'basic';
}

/** The latest conventions name the span after the model too. */
export function samplingSpanName({ model }: SamplingCallEvent, conventions: GenAiConventions): string {
  return conventions === 'basic' || model === undefined ? GEN_AI_OPERATION : `${GEN_AI_OPERATION} ${safeText(model)}`;
}

/** The attribute that the latest conventions demand on spans and metrics. */
export function modelAttribute({ model }: SamplingCallEvent, conventions: GenAiConventions): Attributes {
  return conventions === 'basic' || model === undefined ? {} : { 'gen_ai.request.model': safeText(model) };
}

/** The attributes of a sampling span. */
export function samplingAttributes(event: SamplingCallEvent, conventions: GenAiConventions): Attributes {
  return {
    'gen_ai.operation.name': GEN_AI_OPERATION,
    'gen_ai.request.choice.count': event.samples,
    'gen_ai.usage.input_tokens': event.promptTokens,
    'gen_ai.usage.output_tokens': event.sampledTokens,
    'tinkex.sampling.session.id': event.samplingSessionId,
    'tinkex.attempt': event.attempt,
    ...(conventions === 'latest' ? { ...latestAttributes(event), ...modelAttribute(event, conventions) } : undefined),
  };
}

function latestAttributes({ maxTokens, temperature, topP, topK, seed, finishReasons }: SamplingCallEvent): Attributes {
  return {
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.request.temperature': temperature,
    'gen_ai.request.top_p': topP,
    'gen_ai.request.top_k': topK,
    'gen_ai.request.seed': seed,
    'gen_ai.response.finish_reasons': finishReasons?.map((reason) => safeText(reason)),
  };
}
