import { describe, expect, it } from 'vitest';
import {
  type AdamParams,
  type DimuonParams,
  dmel,
  encodedText,
  image,
  imageAssetPointer,
  type JsonObject,
  ModelInput,
  type OptimizerConfig,
  type SamplingParams,
  TensorData,
  ValidationError,
} from '../src/index.js';
import * as wire from '../src/wire.js';
import { type AnyCodec, endpoints, stringifyJson, type TelemetryRequest } from '../src/wire.js';
import { fromHex, vectorCases } from './vectors.js';

interface BodyInput {
  readonly endpoint: string;
  readonly values: Readonly<Record<string, never>>;
}

/** The values of the request-bodies vectors in the words of this package. */
const bodies: Readonly<Record<string, (values: never, name: string) => JsonObject>> = {
  'POST /api/v1/client/config': ({ sdk_version }: { sdk_version: string }) => wire.clientConfigRequest.encode({ sdkVersion: sdk_version }),
  'POST /api/v1/client/dynamic_config': ({ sdk_version }: { sdk_version: string }) =>
    endpoints.clientDynamicConfig.request.encode({ sdkVersion: sdk_version }),
  'POST /api/v1/auth/token': () => wire.authTokenRequest.encode({}),
  'POST /api/v1/create_session': (values: {
    tags: string[];
    user_metadata: JsonObject;
    sdk_version: string;
    project_id?: string | null;
    display_name?: string;
  }) =>
    wire.createSessionRequest.encode({
      tags: values.tags,
      userMetadata: values.user_metadata,
      sdkVersion: values.sdk_version,
      projectId: values.project_id ?? undefined,
      displayName: values.display_name,
    }),
  'POST /api/v1/session_heartbeat': ({ session_id }: { session_id: string }) =>
    wire.sessionHeartbeatRequest.encode({ sessionId: session_id }),
  'POST /api/v1/create_model': (values: {
    session_id: string;
    model_seq_id: number;
    base_model: string;
    rank: number;
    seed?: number;
    user_metadata?: JsonObject;
    optimizer?: { type: string };
  }) =>
    wire.createModelRequest.encode({
      sessionId: values.session_id,
      modelSeqId: values.model_seq_id,
      baseModel: values.base_model,
      loraConfig: { rank: values.rank, ...(values.seed === undefined ? {} : { seed: values.seed }) },
      ...(values.user_metadata === undefined ? {} : { userMetadata: values.user_metadata }),
      // The reference always sends the optimizer; our client leaves the default out.
      optimizerConfig: optimizerOf(values.optimizer),
    }),
  'POST /api/v1/get_info': ({ model_id }: { model_id: string }) => wire.getInfoRequest.encode({ modelId: model_id }),
  'POST /api/v1/unload_model': ({ model_id }: { model_id: string }) => wire.unloadModelRequest.encode({ modelId: model_id }),
  'POST /api/v1/optim_step': (values: {
    model_id: string;
    seq_id: number;
    adam_params?: object;
    dimuon_params?: object;
    other_params?: JsonObject;
  }) =>
    wire.optimStepRequest.encode({
      modelId: values.model_id,
      seqId: values.seq_id,
      ...(values.adam_params && { adamParams: camel<AdamParams>(values.adam_params) }),
      ...(values.dimuon_params && { optimizerParams: { type: 'dimuon', ...camel<DimuonParams>(values.dimuon_params) } }),
      ...(values.other_params && { optimizerParams: { type: 'other', raw: values.other_params } }),
    }),
  'POST /api/v1/save_weights': ({ name: path, ...values }: { name: string }) =>
    wire.saveWeightsRequest.encode({ ...camel<{ modelId: string }>(values), path }),
  'POST /api/v1/load_weights': (values: Record<string, never>) => wire.loadWeightsRequest.encode(camel(values)),
  'POST /api/v1/save_weights_for_sampler': ({ name: path, ...values }: { name?: string }) =>
    wire.saveWeightsForSamplerRequest.encode({ ...camel<{ modelId: string }>(values), ...(path === undefined ? {} : { path }) }),
  'POST /api/v1/save_weights_external': ({ name: path, ...values }: { name: string }) =>
    wire.saveWeightsExternalRequest.encode({ ...camel<{ modelId: string }>(values), path }),
  'POST /api/v1/copy_weights': ({ path: sourcePath, ...values }: { path: string }) =>
    wire.copyWeightsRequest.encode({ ...camel<object>(values), sourcePath }),
  'POST /api/v1/create_sampling_session': (values: Record<string, never>) => wire.createSamplingSessionRequest.encode(camel(values)),
  'POST /api/v1/asample': sampleBody,
  'POST /api/v1/retrieve_futures': ({ target, ...values }: { target: object }) =>
    wire.futuresRetrieveRequest.encode({
      ...camel<object>(values),
      target: { type: 'sampling_session', ...camel<{ samplingSessionId: string }>(target) },
    }),
  'POST /api/v1/cancel_future': ({ request_id }: { request_id: string }) => wire.cancelFutureRequest.encode({ requestId: request_id }),
  'POST /api/v1/join_sampling_session': ({ sampling_session_id }: { sampling_session_id: string }) =>
    wire.joinSamplingSessionRequest.encode({ samplingSessionId: sampling_session_id }),
  'POST /api/v1/retrieve_future': ({ request_id }: { request_id: string }, name) =>
    wire.futureRetrieveRequest.encode({ requestId: request_id, allowMetadataOnly: name === 'retrieve-future-first' }),
  'POST /api/v1/weights_info': ({ tinker_path }: { tinker_path: string }) => wire.weightsInfoRequest.encode({ tinkerPath: tinker_path }),
  'PUT /api/v1/training_runs/run-1/checkpoints/weights/0001/ttl': ({ ttl_seconds }: { ttl_seconds: number | null }) =>
    wire.setCheckpointTtlRequest.encode({ ttlSeconds: ttl_seconds }),
  'PUT /api/v1/sessions/sess-1/project': ({ project_id }: { project_id: string }) =>
    wire.assignSessionProjectRequest.encode({ projectId: project_id }),
  'POST /api/v1/sessions/sess-1/finish': ({ status, detail }: { status: 'success'; detail?: string }) =>
    wire.finishSessionRequest.encode({ reason: status, detail }),
  'POST /api/v1/sessions/search': (values: object) => wire.sessionSearchRequest.encode(deepCamel(values)),
  'POST /api/v1/telemetry': () => wire.telemetryRequest.encode(telemetryExample),
};

function optimizerOf(config: { type: string } = { type: 'adamw' }): OptimizerConfig {
  return ['adamw', 'dimuon'].includes(config.type) ? (config as OptimizerConfig) : { type: 'other', raw: config };
}

const telemetryExample: TelemetryRequest = {
  events: [
    {
      event: 'SESSION_START',
      eventId: '24eab61d-571f-4bcf-9027-1cd8354103a2',
      eventSessionIndex: 0,
      severity: 'INFO',
      timestamp: '2026-08-08T03:35:23.070234Z',
    },
  ],
  platform: 'Linux',
  sdkVersion: '0.36.0',
  sessionId: 'sess-1',
  processUuid: '207a3da0-a315-4c56-8dbf-26f6fd209519',
};

function sampleBody(
  values: {
    seq_id: number;
    num_samples?: number;
    prompt_tokens?: number[];
    sampling_params?: Record<string, never>;
    include_prompt_logprobs?: boolean;
    topk_prompt_logprobs?: number;
    topk_sample_logprobs?: number;
    target_prompt_logprobs?: WireTensor;
    prompt_alt_tokens_k?: number;
    prompt_logprobs_last_n?: number;
    record_stability_info?: boolean;
  },
  name: string,
): JsonObject {
  const isLogprobs = name.startsWith('sample-compute-logprobs');
  const limit = isLogprobs ? { maxTokens: 1 } : { maxTokens: 8 };
  return wire.sampleRequest.encode({
    prompt:
      name === 'sample-multimodal'
        ? multimodal
        : values.prompt_tokens?.length === 0
          ? ModelInput.empty()
          : ModelInput.fromInts(values.prompt_tokens ?? []),
    samplingParams: values.sampling_params === undefined ? limit : camel<SamplingParams>(values.sampling_params),
    samplingSessionId: 'sess-1:sample:0',
    seqId: values.seq_id,
    promptLogprobs: isLogprobs || values.include_prompt_logprobs === true,
    ...(values.num_samples === undefined ? {} : { numSamples: values.num_samples }),
    ...(values.topk_prompt_logprobs === undefined ? {} : { topkPromptLogprobs: values.topk_prompt_logprobs }),
    // The reference sends these even at their default; our client leaves them out then.
    topkSampleLogprobs: values.topk_sample_logprobs ?? 0,
    promptAltTokensK: values.prompt_alt_tokens_k ?? 0,
    recordStabilityInfo: values.record_stability_info ?? false,
    promptLogprobsLastN: values.prompt_logprobs_last_n,
    targetPromptLogprobs: values.target_prompt_logprobs && tensorOfWire(values.target_prompt_logprobs),
  });
}

function tensorOfWire({ data, dtype, shape, ...sparse }: WireTensor): TensorData {
  return new TensorData({
    data: BigInt64Array.from(data, BigInt),
    dtype,
    shape,
    sparseCrowIndices: sparse.sparse_crow_indices && BigInt64Array.from(sparse.sparse_crow_indices, BigInt),
    sparseColIndices: sparse.sparse_col_indices && BigInt64Array.from(sparse.sparse_col_indices, BigInt),
  });
}

interface WireTensor {
  readonly data: number[];
  readonly dtype: 'int64';
  readonly shape: number[];
  readonly sparse_crow_indices?: number[];
  readonly sparse_col_indices?: number[];
}

const multimodal = new ModelInput([
  encodedText([1]),
  image({ data: fromHex('89504e47'), format: 'png', expectedTokens: 5 }),
  imageAssetPointer({ location: 'gs://b/a.jpg', format: 'jpeg', expectedTokens: 3 }),
  image({ data: fromHex('ff'), format: 'jpeg' }),
  dmel(fromHex('0402035000000000')),
]);

/** Vectors name fields as the wire does. */
function camel<T>(values: object): T {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]),
  ) as T;
}

/** The same, also below; the names in metadata have no underscores here. */
function deepCamel<T>(value: unknown): T {
  if (Array.isArray(value)) return value.map((entry) => deepCamel(entry)) as T;
  if (typeof value !== 'object' || value === null) return value as T;
  return camel(Object.fromEntries(Object.entries(value).map(([key, own]) => [key, deepCamel(own)])));
}

describe('request-bodies.json', () => {
  for (const { name, input, expected } of vectorCases<BodyInput, JsonObject>('request-bodies', 65)) {
    it(name, () => {
      const encode = bodies[input.endpoint];
      if (encode === undefined) throw new Error(`no body for ${input.endpoint}`);
      const wire = encode(input.values as never, name);
      expect(JSON.parse(stringifyJson(wire))).toEqual(expected);
    });

    it(`${name}: reading and writing again gives the same body`, () => {
      const endpoint = Object.values(endpoints).find(({ method, path }) => matches(`${method} ${path}`, input.endpoint));
      const codec: AnyCodec | undefined = endpoint !== undefined && 'request' in endpoint ? endpoint.request : undefined;
      if (codec === undefined) throw new Error(`no codec for ${input.endpoint}`);
      const value = codec.decode(expected);
      expect(JSON.parse(stringifyJson(codec.encode(value as never)))).toEqual(expected);
    });
  }
});

function matches(template: string, endpoint: string): boolean {
  const pattern = template.replace('{checkpoint_id}', '[^ ]+').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(endpoint);
}

interface ParsingExpected {
  readonly ok: boolean;
  readonly value?: JsonObject;
}

/** Where this package is more tolerant than the reference, on purpose. */
const deviations: Readonly<Record<string, string>> = {
  'checkpoint-unknown-type': 'one checkpoint of a new kind must not make the whole list unreadable',
  'billing-unknown-kind':
    'a new kind of usage must not make the whole bill unreadable (wire.md 11: a new client should rather tolerate it)',
  'session-summary-unknown': 'a new status must not make the whole search unreadable',
  'session-summary-unknown-category': 'a new category must not make the whole search unreadable',
  'whoami-type': 'a credential without an organization still names its user (changes-0.36 6.5)',
  'whoami-without-organization': 'a credential without an organization still names its user (changes-0.36 6.5)',
};

const names: Readonly<Record<string, string>> = {
  UntypedAPIFuture: 'untypedApiFuture',
  SaveWeightsExternalResponseInternal: 'saveWeightsExternalResponse',
  SaveWeightsForSamplerResponseInternal: 'saveWeightsForSamplerResponse',
};

function codecOf(type: string): AnyCodec {
  const name = names[type] ?? `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const codec = (wire as unknown as Record<string, AnyCodec | undefined>)[name];
  if (codec === undefined) throw new Error(`no codec ${name}`);
  return codec;
}

/** Nulls mean absent here, and the tags of whole objects are not part of the values. */
function present(value: unknown, isTop = true): unknown {
  if (Array.isArray(value)) return value.map((entry) => present(entry, false));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key, own]) => own !== null && !(isTop && key === 'type'));
  return Object.fromEntries(entries.map(([key, own]) => [key, present(own, false)]));
}

describe('response-parsing.json', () => {
  for (const { name, input, expected } of vectorCases<{ type: string; body: JsonObject }, ParsingExpected>('response-parsing', 105)) {
    it(name, () => {
      const codec = codecOf(input.type);
      const reason = deviations[name];
      if (reason !== undefined) {
        expect(expected.ok, reason).toBe(false);
        expect(codec.decode(input.body)).toBeDefined();
        return;
      }
      if (!expected.ok) {
        expect(() => codec.decode(input.body)).toThrow(ValidationError);
        return;
      }
      const value = codec.decode(input.body);
      expect(present(codec.encode(value as never))).toEqual(present(expected.value));
    });
  }

  it('keeps an unknown kind of usage as it is, and an extra field reachable', () => {
    const bucket = { bucket_start: '2026-07-13T05:00:00Z', bucket_end: '2026-07-13T06:00:00Z' };
    const unknownKind = wire.billingUsageResponse.decode({ data: [{ ...bucket, event_info: { type: 'brand_new', x: 1 } }] });
    expect(unknownKind.data[0]?.eventInfo).toEqual({ type: 'other', raw: { type: 'brand_new', x: 1 } });
    const extra = wire.billingUsageResponse.decode({ data: [{ ...bucket, event_info: { type: 'training', token_count: 5, x: 1 } }] });
    expect(extra.data[0]?.eventInfo).toEqual({ type: 'training', tokenCount: 5 });
    expect(wire.unknownFields(extra.data[0]?.eventInfo ?? {})).toEqual({ x: 1 });
  });
});

describe('request-validation.json', () => {
  const types: Readonly<Record<string, (values: JsonObject) => unknown>> = {
    DimuonParams: (values) => wire.optimStepRequest.decode({ model_id: 'm', optimizer_params: { type: 'dimuon', ...values } }),
    DimuonOptimizerConfig: (values) =>
      wire.createModelRequest.decode({
        session_id: 's',
        model_seq_id: 0,
        base_model: 'b',
        optimizer_config: { type: 'dimuon', ...values },
      }),
  };
  for (const { name, input, expected } of vectorCases<{ type: string; values: JsonObject }, { ok: boolean }>('request-validation', 23)) {
    it(name, () => {
      const check = (): unknown => types[input.type]?.(input.values) ?? codecOf(input.type).encode(deepCamel(input.values) as never);
      if (expected.ok) expect(check()).toBeDefined();
      else expect(check).toThrow(ValidationError);
    });
  }

  it('a refusal names the field and the cure', () => {
    const search = wire.sessionSearchRequest.encode;
    expect(() => search({ limit: 201 })).toThrow(/limit must be a whole number from 1 to 200, got 201/);
    expect(() => search({ owner: { type: 'user', ownerUrns: [] } })).toThrow(
      /owner\.ownerUrns must be a list of at least 1 and at most 10/,
    );
    expect(() => search({ cursor: { lastCreatedAt: '2026-01-01T00:00:00', lastSessionId: 'z' } })).toThrow(
      /cursor\.lastCreatedAt must be ISO 8601 text with a zone/,
    );
  });
});

interface EndpointExpected {
  readonly answer: string;
  readonly http_retries: number;
  readonly outer_retry: string;
  readonly timeout_seconds: number;
  readonly pool: string | null;
}

describe('endpoints.json', () => {
  const cases = vectorCases<{ method: string; path: string }, EndpointExpected>('endpoints', 48);
  for (const { name, input, expected } of cases) {
    it(name, () => {
      const found = Object.values<wire.Endpoint>(endpoints).filter(({ method, path }) => method === input.method && path === input.path);
      expect(found).toHaveLength(1);
      const [endpoint] = found;
      expect(endpoint?.pool).toBe(expected.pool ?? 'default');
      expect(endpoint?.maxRetries).toBe(expected.http_retries === 10 ? 'default' : expected.http_retries);
      expect(endpoint?.timeoutMs === 'default' ? 60_000 : endpoint?.timeoutMs).toBe(expected.timeout_seconds * 1000);
      // The archive's own loop, too, ends in the outer layer.
      expect(endpoint?.outerRetry).toBe(expected.outer_retry.includes('EWR'));
      const answer = expected.answer
        .replace('Internal', '')
        .replace(/ \(protobuf\)$/, '')
        .replace('302 or ', '');
      if (answer.startsWith('promise → ')) {
        expect(endpoint?.response?.name).toBe('UntypedApiFuture');
        expect(endpoint?.result?.name).toBe(answer.slice('promise → '.length));
      } else if (answer === 'body ignored' || answer.startsWith('see ')) expect(endpoint?.response).toBeUndefined();
      else expect(endpoint?.response?.name).toBe(answer === 'trace poll object' ? 'TraceExportResponse' : answer);
    });
  }

  it('has one endpoint more than the table: the legacy forward', () => {
    const paths = new Set(cases.map(({ input }) => `${input.method} ${input.path}`));
    const extra = Object.entries(endpoints).filter(([, { method, path }]) => !paths.has(`${method} ${path}`));
    expect(extra.map(([name]) => name)).toEqual(['forward']);
  });
});
