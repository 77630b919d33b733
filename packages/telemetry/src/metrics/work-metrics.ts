import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import { BY_REQUEST_TYPE, BY_SERVER } from './labels.js';
import type { Registry } from './registry.js';

/** Metrics of the work users ask for: promises, training, sampling, checkpoints. */
export function workMetrics(registry: Registry): EventHandlers {
  return { ...futureMetrics(registry), ...trainingMetrics(registry), ...samplingMetrics(registry) };
}

function futureMetrics(registry: Registry): EventHandlers {
  const polls = registry.counter('tinkex_future_polls_total', 'Polls of promises, by what the answer meant.', [
    ...BY_REQUEST_TYPE,
    'outcome',
  ]);
  const settled = registry.counter('tinkex_futures_settled_total', 'Promises that ended.', [...BY_REQUEST_TYPE, 'outcome']);
  const unobserved = registry.counter('tinkex_future_unobserved_failures_total', 'Promises that failed with nobody waiting.', [
    ...BY_REQUEST_TYPE,
    'code',
  ]);
  const duration = registry.seconds('tinkex_future_duration_seconds', 'Time from a call to the end of its promise.', BY_REQUEST_TYPE);
  const queueChanges = registry.counter('tinkex_queue_state_changes_total', 'Changes of the queue state, by the new state.', [
    ...BY_REQUEST_TYPE,
    'state',
  ]);
  return {
    'tinkex:future:poll': ({ baseUrl, requestType, outcome }) => polls.with(safeText(baseUrl), safeText(requestType), outcome).add(1),
    'tinkex:future:settled': ({ baseUrl, requestType, outcome, durationMs }) => {
      settled.with(safeText(baseUrl), safeText(requestType), outcome).add(1);
      duration.with(safeText(baseUrl), safeText(requestType)).record(durationMs / 1_000);
    },
    'tinkex:future:unobserved_failure': ({ baseUrl, requestType, errorCode }) =>
      unobserved.with(safeText(baseUrl), safeText(requestType), safeText(errorCode)).add(1),
    'tinkex:queue:state_change': ({ baseUrl, requestType, to }) => queueChanges.with(safeText(baseUrl), safeText(requestType), to).add(1),
  };
}

function trainingMetrics(registry: Registry): EventHandlers {
  const operations = registry.counter('tinkex_training_operations_total', 'Training calls that finished.', BY_REQUEST_TYPE);
  const datums = registry.counter('tinkex_training_datums_total', 'Examples in finished training calls.', BY_REQUEST_TYPE);
  const tokens = registry.counter('tinkex_training_tokens_total', 'Tokens in finished training calls.', BY_REQUEST_TYPE);
  const duration = registry.seconds('tinkex_training_operation_duration_seconds', 'Time of a training call.', BY_REQUEST_TYPE);
  const metric = registry.gauge('tinkex_training_metric', 'The last value of each metric the service reported.', [
    'metric',
    ...BY_REQUEST_TYPE,
  ]);
  const chunks = registry.counter('tinkex_chunks_submitted_total', 'Parts of training calls accepted by the service.', BY_REQUEST_TYPE);
  const chunkSize = registry.bytes('tinkex_chunk_size_bytes', 'Estimated size of submitted parts.', BY_REQUEST_TYPE);
  const checkpoints = registry.counter('tinkex_checkpoints_total', 'Checkpoints saved and loaded.', [...BY_SERVER, 'kind']);
  const checkpointDuration = registry.seconds('tinkex_checkpoint_duration_seconds', 'Time to save or load a checkpoint.', [
    ...BY_SERVER,
    'kind',
  ]);
  const received = registry.gauge('tinkex_checkpoint_download_received_bytes', 'Bytes received by the latest download.', BY_SERVER);
  const checkpoint = (kind: string, { baseUrl, durationMs }: { readonly baseUrl: string; readonly durationMs: number }): void => {
    checkpoints.with(safeText(baseUrl), kind).add(1);
    checkpointDuration.with(safeText(baseUrl), kind).record(durationMs / 1_000);
  };
  return {
    'tinkex:training:operation': (event) => {
      const labels = [safeText(event.baseUrl), safeText(event.requestType)] as const;
      operations.with(...labels).add(1);
      datums.with(...labels).add(event.datums);
      tokens.with(...labels).add(event.tokens);
      duration.with(...labels).record(event.durationMs / 1_000);
      for (const name in event.metrics) metric.with(name, ...labels).set(event.metrics[name] ?? Number.NaN);
    },
    'tinkex:chunk:submit': (event) => {
      const labels = [safeText(event.baseUrl), safeText(event.requestType)] as const;
      chunks.with(...labels).add(1);
      chunkSize.with(...labels).record(event.estimatedBytes);
    },
    'tinkex:checkpoint:save': (event) => checkpoint('save', event),
    'tinkex:checkpoint:load': (event) => checkpoint('load', event),
    'tinkex:checkpoint:download': (event) => received.with(safeText(event.baseUrl)).set(event.receivedBytes),
  };
}

function samplingMetrics(registry: Registry): EventHandlers {
  const calls = registry.counter('tinkex_sampling_calls_total', 'Sampling calls that ended, by error code (`none` for success).', [
    'code',
    ...BY_SERVER,
  ]);
  const promptTokens = registry.counter('tinkex_sampling_prompt_tokens_total', 'Prompt tokens of sampling calls that ended.', BY_SERVER);
  const sampledTokens = registry.counter('tinkex_sampling_sampled_tokens_total', 'Tokens sampled.', BY_SERVER);
  const duration = registry.seconds('tinkex_sampling_call_duration_seconds', 'Time of a sampling call.', BY_SERVER);
  return {
    'tinkex:sampling:call': (event) => {
      const baseUrl = safeText(event.baseUrl);
      calls.with(safeText(event.errorCode ?? 'none'), baseUrl).add(1);
      promptTokens.with(baseUrl).add(event.promptTokens);
      sampledTokens.with(baseUrl).add(event.sampledTokens);
      duration.with(baseUrl).record(event.durationMs / 1_000);
    },
  };
}
