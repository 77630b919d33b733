import type { CaptureSink } from '../capture/capture.js';
import { GatewayFailure } from '../failure.js';
import type { ModelDirectory } from '../models/gateway-model.js';
import { Generation, type GenerationLimits } from './generation.js';
import type { GenerationRequest } from './generation-request.js';

/** What every route works with. */
export interface GatewayContext {
  readonly models: ModelDirectory;
  readonly limits: GenerationLimits;
  readonly capture?: CaptureSink | undefined;
  /** A new ID, such as `chatcmpl-…`. */
  createId(prefix: string): string;
  /** The system clock, in whole seconds. */
  unixSeconds(): number;
}

/** One request on its way to a route: its body is JSON. */
export interface GatewayCall {
  readonly context: GatewayContext;
  readonly body: unknown;
  /** Aborts when the client hangs up. */
  readonly signal: AbortSignal;
  /** Which exchanges belong together, if the client says so. */
  readonly episode?: string | undefined;
}

/** Finds the model of a request and renders its prompt. Throws a failure for a model that is not there and a prompt that does not fit. */
export async function openGeneration({ context, signal }: GatewayCall, request: GenerationRequest): Promise<Generation> {
  const model = await context.models.find(request.model);
  if (model === undefined) {
    throw new GatewayFailure('not_found', `The model \`${request.model}\` does not exist here. GET /v1/models lists the models.`, {
      param: 'model',
    });
  }
  return new Generation(model, request, context.limits, signal);
}
