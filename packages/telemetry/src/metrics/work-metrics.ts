import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import type { Registry } from './registry.js';

/** Metrics of the work users ask for: promises, training, sampling, checkpoints. */
export function workMetrics(registry: Registry): EventHandlers {
  return { ...futureMetrics(registry), ...trainingMetrics(registry), ...samplingMetrics(registry) };
}

function futureMetrics(registry: Registry): EventHandlers {
  const polls = registry.counter('tinkex_future_polls_total', 'Polls of promises, by what the answer meant.');
  const settled = registry.counter('tinkex_futures_settled_total', 'Promises that ended.');
  const unobserved = registry.counter('tinkex_future_unobserved_failures_total', 'Promises that failed with nobody waiting.');
  const duration = registry.seconds('tinkex_future_duration_seconds', 'Time from a call to the end of its promise.');
  const queueChanges = registry.counter('tinkex_queue_state_changes_total', 'Changes of the queue state, by the new state.');
  return {
    'tinkex:future:poll': ({ baseUrl, requestType, outcome }) =>
      polls.with({ base_url: safeText(baseUrl), request_type: safeText(requestType), outcome }).add(1),
    'tinkex:future:settled': ({ baseUrl, requestType, outcome, durationMs }) => {
      settled.with({ base_url: safeText(baseUrl), request_type: safeText(requestType), outcome }).add(1);
      duration.with({ base_url: safeText(baseUrl), request_type: safeText(requestType) }).record(durationMs / 1_000);
    },
    'tinkex:future:unobserved_failure': ({ baseUrl, requestType, errorCode }) =>
      unobserved.with({ base_url: safeText(baseUrl), request_type: safeText(requestType), code: safeText(errorCode) }).add(1),
    'tinkex:queue:state_change': ({ baseUrl, requestType, to }) =>
      queueChanges.with({ base_url: safeText(baseUrl), request_type: safeText(requestType), state: to }).add(1),
  };
}

function trainingMetrics(registry: Registry): EventHandlers {
  const operations = registry.counter('tinkex_training_operations_total', 'Training calls that finished.');
  const datums = registry.counter('tinkex_training_datums_total', 'Examples in finished training calls.');
  const tokens = registry.counter('tinkex_training_tokens_total', 'Tokens in finished training calls.');
  const duration = registry.seconds('tinkex_training_operation_duration_seconds', 'Time of a training call.');
  const metric = registry.gauge('tinkex_training_metric', 'The last value of each metric the service reported.');
  const chunks = registry.counter('tinkex_chunks_submitted_total', 'Parts of training calls accepted by the service.');
  const chunkSize = registry.bytes('tinkex_chunk_size_bytes', 'Estimated size of submitted parts.');
  const checkpoints = registry.counter('tinkex_checkpoints_total', 'Checkpoints saved and loaded.');
  const checkpointDuration = registry.seconds('tinkex_checkpoint_duration_seconds', 'Time to save or load a checkpoint.');
  const received = registry.gauge('tinkex_checkpoint_download_received_bytes', 'Bytes received by the latest download.');
  const checkpoint = (kind: string, { baseUrl, durationMs }: { readonly baseUrl: string; readonly durationMs: number }): void => {
    checkpoints.with({ base_url: safeText(baseUrl), kind }).add(1);
    checkpointDuration.with({ base_url: safeText(baseUrl), kind }).record(durationMs / 1_000);
  };
  return {
    'tinkex:training:operation': (event) => {
      const labels = { base_url: safeText(event.baseUrl), request_type: safeText(event.requestType) };
      operations.with(labels).add(1);
      datums.with(labels).add(event.datums);
      tokens.with(labels).add(event.tokens);
      duration.with(labels).record(event.durationMs / 1_000);
      for (const name in event.metrics) metric.with({ metric: name, ...labels }).set(event.metrics[name] ?? Number.NaN);
    },
    'tinkex:chunk:submit': (event) => {
      const labels = { base_url: safeText(event.baseUrl), request_type: safeText(event.requestType) };
      chunks.with(labels).add(1);
      chunkSize.with(labels).record(event.estimatedBytes);
    },
    'tinkex:checkpoint:save': (event) => checkpoint('save', event),
    'tinkex:checkpoint:load': (event) => checkpoint('load', event),
    'tinkex:checkpoint:download': (event) => received.with({ base_url: safeText(event.baseUrl) }).set(event.receivedBytes),
  };
}

function samplingMetrics(registry: Registry): EventHandlers {
  const calls = registry.counter('tinkex_sampling_calls_total', 'Sampling calls that ended, by error code (`none` for success).');
  const promptTokens = registry.counter('tinkex_sampling_prompt_tokens_total', 'Prompt tokens of sampling calls that ended.');
  const sampledTokens = registry.counter('tinkex_sampling_sampled_tokens_total', 'Tokens sampled.');
  const duration = registry.seconds('tinkex_sampling_call_duration_seconds', 'Time of a sampling call.');
  return {
    'tinkex:sampling:call': (event) => {
      const labels = { base_url: safeText(event.baseUrl) };
      calls.with({ code: safeText(event.errorCode ?? 'none'), ...labels }).add(1);
      promptTokens.with(labels).add(event.promptTokens);
      sampledTokens.with(labels).add(event.sampledTokens);
      duration.with(labels).record(event.durationMs / 1_000);
    },
  };
}
