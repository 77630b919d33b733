export type { AttachOptions } from '../attach/attach.js';
export type { Attachment } from '../attach/attachment.js';
export { attachOpenTelemetry, type OpenTelemetryOptions } from './attach-opentelemetry.js';
export { type TraceContextOptions, traceContext } from './trace-context.js';
