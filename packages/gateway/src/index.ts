export type { CapturedChoice, CapturedExchange, CaptureSink } from './capture/capture.js';
export { EPISODE_HEADER } from './capture/capture.js';
export type { GatewayModel, GatewayModels, ModelDirectory, ReasoningEffort } from './models/gateway-model.js';
export { type SamplingService, type ServiceModelsOptions, type ServiceSampler, serviceModels } from './models/service-models.js';
export { createGateway, type Gateway, type GatewayOptions } from './server/gateway.js';
export { type RunningGateway, type StartGatewayOptions, startGateway } from './server/start-gateway.js';
export { type PromptScorer, type ServingReport, type VerifyServingOptions, verifyServing } from './verify/verify-serving.js';
