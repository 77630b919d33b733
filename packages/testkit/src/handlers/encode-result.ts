import type { ForwardBackwardOutput, JsonValue, SampleResponse, WireFormat } from '@tinkex/types';
import { forwardBackwardOutput, sampleResponse, stringifyJson } from '@tinkex/types/wire';
import type { Dialect } from '../dialects/dialect.js';
import { serverProtobuf } from '../proto/server-protobuf.js';
import type { FutureRecord } from '../state/future-record.js';

/** A result on the wire. */
export interface EncodedResult {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** Whether results of this type may travel as protobuf. */
export function isBulkResult({ requestType }: FutureRecord): boolean {
  return requestType === 'Sample' || requestType === 'Forward' || requestType === 'ForwardBackward';
}

/** The format of a bulk result for a poll with this `Accept`. */
export function resultFormat(dialect: Dialect, accept: string | undefined): WireFormat {
  return dialect.resultFormat === 'accept' ? (accept?.includes('application/x-protobuf') ? 'protobuf' : 'json') : dialect.resultFormat;
}

/** Encodes the value of a resolved future as the dialect does. */
export function encodeResult(dialect: Dialect, future: FutureRecord, value: unknown, format: WireFormat): EncodedResult {
  if (future.requestType === 'Sample') return encodeSample(dialect, future.requestId, value as SampleResponse, format);
  if (isBulkResult(future)) return encodeForwardBackward(dialect, value as ForwardBackwardOutput, format);
  return jsonResult(smallResult(future.requestType, value as SmallResult));
}

function encodeSample(dialect: Dialect, requestId: string, value: SampleResponse, format: WireFormat): EncodedResult {
  const { promptLogprobs } = value;
  const shaped =
    promptLogprobs === undefined || dialect.promptLogprobs === 'full'
      ? value
      : { ...value, promptLogprobs: dialect.promptLogprobs === 'none' ? undefined : promptLogprobs.subarray(1) };
  if (format === 'protobuf') return { contentType: 'application/x-protobuf', body: serverProtobuf.sampleResponse.encode(shaped) };
  const wire: Record<string, unknown> = { ...sampleResponse.encode(shaped) };
  if (dialect.hasSequenceIds && Array.isArray(wire['sequences'])) {
    wire['sequences'] = wire['sequences'].map((sequence: object, index) => ({ ...sequence, sequence_id: `${requestId}:${index}` }));
  }
  return jsonResult(wire);
}

function encodeForwardBackward(dialect: Dialect, value: ForwardBackwardOutput, format: WireFormat): EncodedResult {
  const shaped =
    dialect.metrics === 'reduced' ? value : { ...value, metrics: dialect.metrics === 'none' ? {} : plainMetrics(value.metrics) };
  return format === 'protobuf'
    ? { contentType: 'application/x-protobuf', body: serverProtobuf.forwardBackwardOutput.encode(shaped) }
    : jsonResult(forwardBackwardOutput.encode(shaped));
}

function plainMetrics(metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name.split(':')[0] ?? name, value]));
}

interface SmallResult {
  readonly modelId?: string | undefined;
  readonly lossId?: string | undefined;
  readonly path?: string | undefined;
  readonly samplingSessionId?: string | undefined;
  readonly sizeBytes?: number | undefined;
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/** The results that are plain JSON objects, with their `type` tags. */
function smallResult(requestType: string, value: SmallResult): Record<string, unknown> {
  switch (requestType) {
    case 'CreateModel':
      return { model_id: value.modelId, type: 'create_model' };
    case 'CreateCustomLoss':
      return { loss_id: value.lossId, type: 'create_custom_loss' };
    case 'UnloadModel':
      return { model_id: value.modelId, type: 'unload_model' };
    case 'LoadWeights':
      return { path: value.path, model_id: value.modelId, type: 'load_weights' };
    case 'SaveWeights':
      return { path: value.path, type: 'save_weights' };
    case 'SaveWeightsExternal':
      return { path: value.path, size_bytes: value.sizeBytes, type: 'save_weights_external' };
    case 'SaveWeightsForSampler':
      return { path: value.path ?? null, sampling_session_id: value.samplingSessionId ?? null, type: 'save_weights_for_sampler' };
    default:
      return { metrics: value.metrics ?? {} };
  }
}

function jsonResult(value: unknown): EncodedResult {
  return { contentType: 'application/json', body: stringifyJson(value as JsonValue) };
}
