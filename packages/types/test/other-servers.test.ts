import { describe, expect, it } from 'vitest';
import { promptLogprobsToList } from '../src/index.js';
import {
  checkpoint,
  clientConfigResponse,
  createModelRequest,
  forwardBackwardOutput,
  forwardBackwardRequest,
  getServerCapabilitiesResponse,
  loraConfig,
  optimStepResponse,
  protobuf,
  requestFailedResponse,
  sampleRequest,
  sampleResponse,
  saveWeightsForSamplerRequest,
  traceExportResponse,
  tryAgainResponse,
  unknownFields,
  untypedApiFuture,
} from '../src/wire.js';
import { sampleBytes } from './messages.js';

describe('what servers differ in', () => {
  it.each([
    ['user', 'user'],
    ['User', 'user'],
    ['USER', 'user'],
    ['user_error', 'user'],
    ['RequestErrorCategory.Server', 'server'],
    ['brand_new', 'unknown'],
    [undefined, 'unknown'],
    [null, 'unknown'],
    [7, 'unknown'],
  ])('category %j is %s', (category, expected) => {
    expect(requestFailedResponse.decode({ type: 'request_failed', error: 'no', category })).toEqual({ error: 'no', category: expected });
  });

  it('reads a failure whose error is not text', () => {
    expect(requestFailedResponse.decode({ error: { code: 1 } })).toEqual({ error: '{"code":1}', category: 'unknown' });
  });

  it('reads pending answers, whatever is missing or new', () => {
    expect(tryAgainResponse.decode({ type: 'try_again' })).toEqual({ queueState: 'unknown' });
    expect(tryAgainResponse.decode({ queue_state: 'paused_new', queue_state_reason: 5, request_id: null })).toEqual({
      queueState: 'unknown',
    });
    expect(tryAgainResponse.decode({ type: 'try_again', queue_state: 'paused_capacity', queue_state_reason: 'full' })).toEqual({
      queueState: 'paused_capacity',
      queueStateReason: 'full',
    });
  });

  it('finds the name of a model under model_id', () => {
    const { supportedModels } = getServerCapabilitiesResponse.decode({
      supported_models: [{ model_id: 'a' }, { model_name: 'b', model_id: 'c' }, { model_name: null, model_id: 'd' }],
    });
    expect(supportedModels).toEqual([{ modelName: 'a' }, { modelName: 'b' }, { modelName: 'd' }]);
  });

  it.each([
    ['2026-08-08T03:35:23', '2026-08-08T03:35:23.000Z'],
    ['2026-08-08 03:35:23.070234', '2026-08-08T03:35:23.070Z'],
    ['2026-08-08T03:35:23.5+02:00', '2026-08-08T01:35:23.500Z'],
    ['2026-08-08T03:35:23-0130', '2026-08-08T05:05:23.000Z'],
    ['2026-08-08', '2026-08-08T00:00:00.000Z'],
    [1786160123.25, '2026-08-08T03:35:23.250Z'],
    [1786160123000, '2026-08-08T03:35:23.000Z'],
    ['1786160123', '2026-08-08T03:35:23.000Z'],
  ])('time %j is %s', (time, expected) => {
    const value = checkpoint.decode({ checkpoint_id: 'bare-name', checkpoint_type: 'training', time, tinker_path: 'p' });
    expect(value.time.toISOString()).toBe(expected);
  });

  it.each(['2026-13-01T00:00:00Z', '2026-02-30', 'yesterday', '', '2026-08-08T25:00:00Z', null, true, Number.NaN, 1e300])(
    'time %j is refused',
    (time) => {
      expect(() => checkpoint.decode({ checkpoint_id: 'c', checkpoint_type: 'training', time, tinker_path: 'p' })).toThrow(
        /time must be an ISO 8601|time is required/,
      );
    },
  );

  it('reads a partial configuration and keeps unknown flags reachable', () => {
    const config = clientConfigResponse.decode({ parallel_fwdbwd_chunks: false, brand_new: 3 });
    expect(config.parallelFwdbwdChunks).toBe(false);
    expect(unknownFields(config)).toEqual({ brand_new: 3 });
  });

  it('reads the fields of newer servers', () => {
    expect(untypedApiFuture.decode({ request_id: 'r', sample_sequence_ids: ['a'] }).sampleSequenceIds).toEqual(['a']);
    expect(sampleResponse.decode({ sequences: [{ stop_reason: 'stop', tokens: [], sequence_id: 's' }] }).sequences[0]?.sequenceId).toBe(
      's',
    );
  });

  it('reads a sample of the JSON dialect', () => {
    const sample = sampleResponse.decode({
      type: 'sample',
      sequences: [{ stop_reason: 'length', tokens: [5, 6], logprobs: [-0.5, -0.75] }],
      prompt_logprobs: [null, -1.0],
      topk_prompt_logprobs: [
        null,
        [
          [7, -0.125],
          [9, -2.0],
        ],
      ],
    });
    expect(sample.sequences[0]).toEqual({ stopReason: 'length', tokens: Int32Array.of(5, 6), logprobs: Float32Array.of(-0.5, -0.75) });
    expect(promptLogprobsToList(sample.promptLogprobs ?? new Float32Array())).toEqual([null, -1]);
    expect(sample.topkPromptLogprobs?.toList()).toEqual([
      null,
      [
        [7, -0.125],
        [9, -2],
      ],
    ]);
    expect(sample.promptCacheHitTokens).toBe(0);
  });

  it('keeps the positions of a prompt for which nothing was computed, as the other dialect does', () => {
    const rows = [null, null];
    const sample = sampleResponse.decode({ sequences: [], topk_prompt_logprobs: rows });
    expect(sample.topkPromptLogprobs?.toList()).toEqual(rows);
    expect(protobuf.sampleResponse.decode(sampleBytes(sample))).toEqual(sample);
    expect(sampleResponse.encode(sample)).toMatchObject({ topk_prompt_logprobs: rows });
  });

  it('reads and writes a forward pass of the JSON dialect', () => {
    const input = {
      data: [{ model_input: { chunks: [{ type: 'encoded_text', tokens: [1] }] }, loss_fn_inputs: {} }],
      loss_fn: 'cross_entropy',
    };
    const request = forwardBackwardRequest.decode({ model_id: 'm', seq_id: 1, type: 'forward', forward_input: input });
    expect(request.forwardOnly).toBe(true);
    expect(forwardBackwardRequest.encode(request)).toMatchObject({ type: 'forward', forward_input: { loss_fn: 'cross_entropy' } });
    expect(() => forwardBackwardRequest.decode({ model_id: 'm', type: 'forward', forward_backward_input: input })).toThrow(
      /type must be 'forward_backward'/,
    );
    expect(() => forwardBackwardRequest.decode({ model_id: 'm' })).toThrow(/forward_backward_input is required/);
  });

  it('reads the result of an optimizer step whatever type it names: the protocol gives it none', () => {
    expect(optimStepResponse.decode({ type: 'optim_step_result', metrics: { 'grad_norm:mean': 1 } })).toEqual({
      metrics: { 'grad_norm:mean': 1 },
    });
  });

  it('reads outputs without metrics, and tensors without a shape', () => {
    const output = forwardBackwardOutput.decode({
      loss_fn_output_type: 'scalar',
      loss_fn_outputs: [{ logprobs: { data: [1, 2.5], dtype: 'float32', shape: null, x: 1 } }],
    });
    expect(output.metrics).toEqual({});
    expect(output.lossFnOutputs[0]?.logprobs?.toArray()).toEqual([1, 2.5]);
  });
});

describe('messages name the place and the fix', () => {
  it.each([
    [
      () =>
        forwardBackwardOutput.decode({
          loss_fn_outputs: [{ a: { data: [1], dtype: 'float32', shape: [1, 2], sparse_crow_indices: [0, 2], sparse_col_indices: [0] } }],
        }),
      'loss_fn_outputs[0].a.sparse_crow_indices must end with the number of stored values (1), got 2',
    ],
    [
      () => createModelRequest.encode({ sessionId: 's', modelSeqId: 0, baseModel: 'b', loraConfig: { rank: 0 } }),
      'Invalid CreateModelRequest: loraConfig.rank must be a whole number from 1 up, got 0',
    ],
    [
      () => createModelRequest.encode({ sessionId: 's', modelSeqId: 0, baseModel: 'b', lora_config: {} } as never),
      'Invalid CreateModelRequest: lora_config is not a known option; write loraConfig instead',
    ],
    [
      () => createModelRequest.encode({ modelSeqId: 0, baseModel: 'b' } as never),
      'Invalid CreateModelRequest: sessionId is required: text',
    ],
    [
      () => createModelRequest.encode({ sessionId: 's', modelSeqId: 0, baseModel: 'b', userMetadata: null } as never),
      'Invalid CreateModelRequest: userMetadata must be an object, got null (leave the field out instead)',
    ],
    [
      () => loraConfig.encode({ rank: 8, trainMlp: false, trainAttn: false, trainUnembed: false }),
      'Invalid LoraConfig: trainMlp must be true unless trainAttn or trainUnembed is: otherwise nothing is trained',
    ],
    [
      () => saveWeightsForSamplerRequest.encode({ modelId: 'm' }),
      'Invalid SaveWeightsForSamplerRequest: path must be set to save under a name, or samplingSessionSeqId to sample immediately; exactly one of them',
    ],
    [
      () => sampleRequest.encode({ prompt: [1] as never }),
      'Invalid SampleRequest: prompt must be a ModelInput; make one with ModelInput.fromInts(tokens)',
    ],
    [
      () => sampleRequest.encode({ prompt: {} as never, samplingParams: { topP: 2 } }),
      'Invalid SampleRequest: prompt must be a ModelInput; make one with ModelInput.fromInts(tokens)',
    ],
    [
      () => forwardBackwardRequest.encode({ modelId: 'm', lossFn: 'x', data: [] }),
      'Invalid ForwardBackwardRequest: data must be a list of at least 1, got an array of 0',
    ],
    [
      () => traceExportResponse.decode({ status: 'lost' }),
      "The server sent an invalid TraceExportResponse: status must be one of 'pending', 'ready', 'failed', got 'lost'",
    ],
  ])('%#', (act, message) => {
    expect(act).toThrow(message);
  });
});
