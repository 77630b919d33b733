// What every front of a trained model shares: a request in our own terms, its answer, and why there is none. `@tinkex/ai-sdk` builds on it.
export { type FailureKind, GatewayFailure, toFailure } from '../failure.js';
export { toDirectory } from '../models/gateway-model.js';
export { serviceModels } from '../models/service-models.js';
export { Generation, type GenerationLimits } from './generation.js';
export type { GenerationRequest, ToolChoice } from './generation-request.js';
export { jsonObjectCheck, jsonTextCheck } from './json-schema.js';
export { contentText, thinkingText } from './message-text.js';
