export type { Attachment, AttachOptions } from '../attach/consumer.js';
export { attachOpenTelemetry, type OpenTelemetryOptions } from './attach-opentelemetry.js';
export type { GenAiConventions } from './gen-ai.js';
export { type TraceContextOptions, traceContext } from './trace-context.js';
