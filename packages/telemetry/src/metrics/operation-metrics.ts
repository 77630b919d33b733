import type { EventHandlers } from '../events/event-handlers.js';
import { BY_REQUEST_TYPE, BY_SERVER, type Registry } from './registry.js';

/** Metrics of what users call: futures, training, checkpoints, sampling. */
export function operationMetrics(registry: Registry): EventHandlers {
  return { ...futureMetrics(registry), ...trainingMetrics(registry), ...checkpointMetrics(registry), ...samplingMetrics(registry) };
}

function futureMetrics(registry: Registry): EventHandlers {
  const byOutcome = [...BY_REQUEST_TYPE, 'outcome'] as const;
  const polls = registry.counter('tinkex_future_polls_total', 'Polls of futures, by the meaning of the answer.', byOutcome);
  const settled = registry.counter('tinkex_futures_settled_total', 'Futures that ended.', byOutcome);
  const byCode = [...BY_REQUEST_TYPE, 'code'] as const;
  const unobserved = registry.counter('tinkex_future_unobserved_failures_total', 'Futures that failed with no caller waiting.', byCode);
  const duration = registry.seconds('tinkex_future_duration_seconds', 'Time from a call to the end of its future.', BY_REQUEST_TYPE);
  const byState = [...BY_REQUEST_TYPE, 'state'] as const;
  const queueChanges = registry.counter('tinkex_queue_state_changes_total', 'Changes of the queue state, by the new state.', byState);
  return {
    'tinkex:future:poll': ({ baseUrl, requestType, outcome }) => polls.with(baseUrl, requestType, outcome).add(1),
    'tinkex:future:settled': ({ baseUrl, requestType, outcome, durationMs }) => {
      settled.with(baseUrl, requestType, outcome).add(1);
      duration.with(baseUrl, requestType).record(durationMs / 1_000);
    },
    'tinkex:future:unobserved_failure': ({ baseUrl, requestType, errorCode }) => unobserved.with(baseUrl, requestType, errorCode).add(1),
    'tinkex:queue:state_change': ({ baseUrl, requestType, to }) => queueChanges.with(baseUrl, requestType, to).add(1),
  };
}

function trainingMetrics(registry: Registry): EventHandlers {
  const operations = registry.counter('tinkex_training_operations_total', 'Training calls that finished.', BY_REQUEST_TYPE);
  const datums = registry.counter('tinkex_training_datums_total', 'Examples in finished training calls.', BY_REQUEST_TYPE);
  const tokens = registry.counter('tinkex_training_tokens_total', 'Tokens in finished training calls.', BY_REQUEST_TYPE);
  const duration = registry.seconds('tinkex_training_operation_duration_seconds', 'Time of a training call.', BY_REQUEST_TYPE);
  const byMetric = ['metric', ...BY_REQUEST_TYPE] as const;
  const metric = registry.gauge('tinkex_training_metric', 'The last value of each metric that the service reported.', byMetric);
  const chunks = registry.counter('tinkex_chunks_submitted_total', 'Chunks of training calls that the service accepted.', BY_REQUEST_TYPE);
  const chunkSize = registry.bytes('tinkex_chunk_size_bytes', 'Estimated size of submitted chunks.', BY_REQUEST_TYPE);
  return {
    'tinkex:training:operation': (event) => {
      const { baseUrl, requestType } = event;
      operations.with(baseUrl, requestType).add(1);
      datums.with(baseUrl, requestType).add(event.datums);
      tokens.with(baseUrl, requestType).add(event.tokens);
      duration.with(baseUrl, requestType).record(event.durationMs / 1_000);
      for (const [name, value] of Object.entries(event.metrics)) metric.with(name, baseUrl, requestType).set(value);
    },
    'tinkex:chunk:submit': ({ baseUrl, requestType, estimatedBytes }) => {
      chunks.with(baseUrl, requestType).add(1);
      chunkSize.with(baseUrl, requestType).record(estimatedBytes);
    },
  };
}

function checkpointMetrics(registry: Registry): EventHandlers {
  const byKind = [...BY_SERVER, 'kind'] as const;
  const checkpoints = registry.counter('tinkex_checkpoints_total', 'Checkpoints saved and loaded.', byKind);
  const duration = registry.seconds('tinkex_checkpoint_duration_seconds', 'Time to save or load a checkpoint.', byKind);
  const received = registry.gauge('tinkex_checkpoint_download_received_bytes', 'Bytes received by the latest download.', BY_SERVER);
  const record = (kind: string, baseUrl: string, durationMs: number): void => {
    checkpoints.with(baseUrl, kind).add(1);
    duration.with(baseUrl, kind).record(durationMs / 1_000);
  };
  return {
    'tinkex:checkpoint:save': ({ baseUrl, durationMs }) => record('save', baseUrl, durationMs),
    'tinkex:checkpoint:load': ({ baseUrl, durationMs }) => record('load', baseUrl, durationMs),
    'tinkex:checkpoint:download': ({ baseUrl, receivedBytes }) => received.with(baseUrl).set(receivedBytes),
  };
}

function samplingMetrics(registry: Registry): EventHandlers {
  const byCode = ['code', ...BY_SERVER] as const;
  const calls = registry.counter('tinkex_sampling_calls_total', 'Sampling calls that ended, by error code (`none` for success).', byCode);
  const promptTokens = registry.counter('tinkex_sampling_prompt_tokens_total', 'Prompt tokens of sampling calls that ended.', BY_SERVER);
  const sampledTokens = registry.counter('tinkex_sampling_sampled_tokens_total', 'Tokens sampled.', BY_SERVER);
  const duration = registry.seconds('tinkex_sampling_call_duration_seconds', 'Time of a sampling call.', BY_SERVER);
  return {
    'tinkex:sampling:call': (event) => {
      calls.with(event.errorCode ?? 'none', event.baseUrl).add(1);
      promptTokens.with(event.baseUrl).add(event.promptTokens);
      sampledTokens.with(event.baseUrl).add(event.sampledTokens);
      duration.with(event.baseUrl).record(event.durationMs / 1_000);
    },
  };
}
