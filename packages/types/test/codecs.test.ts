import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, ValidationError } from '../src/index.js';
import * as wire from '../src/wire.js';
import { type AnyCodec, endpoints, parseJson, stringifyJson, unknownFields } from '../src/wire.js';
import { modelInputs, names, outputs, requests, samples, targetPrompts } from './arbitraries.js';

const text = fc.string({ unit: 'grapheme' });
const some = fc.string({ minLength: 1 });
const count = fc.nat();
const seq = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const positive = fc.double({ min: 0, max: 1e300, noNaN: true }).map((value) => value + 0);
const date = fc.date({ min: new Date('1971-01-01'), max: new Date('2999-01-01'), noInvalidDate: true });
const json = fc
  .array(fc.tuple(names, fc.jsonValue({ maxDepth: 3 })), { maxLength: 3 })
  // Whole numbers beyond 2^53 come back as bigints, which is tested elsewhere.
  .map(
    (entries) =>
      JSON.parse(JSON.stringify(Object.fromEntries(entries)), (_, value: unknown) =>
        typeof value === 'number' && Math.abs(value) > 2 ** 53 - 1 ? 0.5 : value,
      ) as JsonObject,
  );
const texts = fc.array(text, { maxLength: 3 });
const scope = fc.constantFrom('owned', 'accessible');
const path = text.map((name) => `tinker://${name}`);
const seed = fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }));

function map<T>(values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(names, values), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
}

/** An object with required fields, and others that may be missing. */
function shape(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<unknown> {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
}

const lora = shape({ rank: seq, trainUnembed: fc.boolean(), trainMlp: fc.boolean(), trainAttn: fc.constant(true) }, { seed });
const adam = shape({
  learningRate: positive,
  beta1: positive,
  beta2: positive,
  eps: positive,
  weightDecay: positive,
  gradClipNorm: positive,
});
const params = shape(
  { temperature: positive, topK: fc.integer({ min: -1 }), topP: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0) },
  { maxTokens: count, seed, stop: fc.oneof(text, fc.array(some), fc.array(count)) },
);
const checkpoint = shape(
  {
    checkpointId: text,
    checkpointType: fc.constantFrom('training', 'sampler', 'external', 'brand_new'),
    time: date,
    tinkerPath: text,
    public: fc.boolean(),
  },
  { sizeBytes: count, userMetadata: map(text), expiresAt: date },
);
const cursor = shape({ offset: count, limit: count, totalCount: count });
const run = shape(
  { trainingRunId: text, baseModel: text, modelOwner: text, isLora: fc.boolean(), corrupted: fc.boolean(), lastRequestTime: date },
  { loraRank: count, lastCheckpoint: checkpoint, lastSamplerCheckpoint: checkpoint, userMetadata: map(text) },
);
const eventBase = {
  eventId: text,
  eventSessionIndex: count,
  severity: fc.constantFrom('DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'),
  timestamp: text,
};
const telemetryEvent = fc.oneof(
  shape({ event: fc.constant('SESSION_START'), ...eventBase }),
  shape({ event: fc.constant('SESSION_END'), ...eventBase, duration: text }),
  shape({ event: fc.constant('UNHANDLED_EXCEPTION'), ...eventBase, errorType: text, errorMessage: text }, { traceback: text }),
  shape({ event: fc.constant('GENERIC_EVENT'), ...eventBase, eventName: text, eventData: json }),
);
const usage = fc.oneof(
  shape({ type: fc.constant('training'), tokenCount: count }),
  shape({ type: fc.constant('sampling_prefill'), cached: fc.boolean(), tokenCount: count }),
  shape({ type: fc.constant('sampling_sample'), tokenCount: count }),
  shape({ type: fc.constant('checkpoint'), count }),
  shape({ type: fc.constant('storage'), gigabyteHours: number }),
  shape({ type: fc.constant('other'), raw: fc.constant({ type: 'brand_new', x: 1 }) }),
);
const optimizer = fc.oneof(
  fc.constant({ type: 'adamw' }),
  fc.constant({ type: 'dimuon', version: 1 }),
  fc.constant({ type: 'other', raw: { type: 'brand_new', k: 2 } }),
);
const dimuon = { learningRate: positive, gradClipNorm: number, beta1: fc.constantFrom(0, 0.5, 0.9) };
const finish = fc.constantFrom('success', 'errored', 'interrupted');
const other = shape({ type: fc.constant('other'), raw: fc.constant({ type: 'brand_new', x: 1 }) });
const ownerFilter = fc.oneof(
  shape({ type: fc.constantFrom('own', 'accessible') }),
  shape({ type: fc.constant('user'), ownerUrns: fc.array(text, { minLength: 1, maxLength: 10 }) }),
);
const statusFilter = fc.oneof(
  shape({ type: fc.constantFrom('active', 'cancelled', 'failed') }),
  shape({ type: fc.constant('client_finished') }, { reasons: fc.array(finish, { minLength: 1, maxLength: 3 }) }),
);
const failureReason = fc.oneof(
  shape({ type: fc.constant('request'), requestId: text, requestType: text }),
  shape({ type: fc.constant('training_run'), trainingRunId: text }),
  shape({ type: fc.constant('sampling_session'), samplingSessionId: text }),
  other,
);
const sessionStatus = fc.oneof(
  shape({ type: fc.constant('active') }),
  shape({ type: fc.constant('cancelled') }, { detail: text }),
  shape({ type: fc.constant('client_finished'), reason: finish }, { detail: text }),
  shape({ type: fc.constant('failed'), category: fc.constantFrom('user', 'internal', 'new'), reason: failureReason, message: text }),
  other,
);
const searchCursor = shape({
  lastCreatedAt: fc.constantFrom('2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00+02:00'),
  lastSessionId: text,
});
const sessionSummary = shape(
  { sessionId: text, createdAt: date, owner: text, projectId: text, checkpointsCount: count },
  { status: sessionStatus, displayName: text, userMetadata: map(text), checkpointStorageBytes: count },
);
const { lossArgument } = fc.letrec<{ lossArgument: unknown }>((tie) => ({
  lossArgument: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      number,
      text,
      shape({ ref: text }),
      shape({ dtype: text }),
      shape({ ellipsis: fc.constant(true) }),
    ),
    shape({ float: fc.constantFrom('inf', '-inf', 'nan') }),
    fc.array(tie('lossArgument'), { maxLength: 3 }),
    shape({ tuple: fc.array(tie('lossArgument'), { maxLength: 3 }) }),
    shape({ slice: fc.array(tie('lossArgument'), { minLength: 3, maxLength: 3 }) }),
    shape({ dict: map(tie('lossArgument')) }),
  ),
}));
const lossNode = shape({
  op: fc.constantFrom('placeholder', 'get_attr', 'call_function', 'call_method', 'call_module', 'output'),
  name: some,
  target: some,
  args: fc.array(lossArgument, { maxLength: 3 }),
  kwargs: map(lossArgument),
});
const flags = Object.fromEntries(
  Object.entries(wire.clientConfigResponse.decode({})).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? fc.boolean() : typeof value === 'number' ? count : text,
  ]),
);
const empty = fc.constant({});

/** What every codec is given: complete values, as decoding gives them. */
const values: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  adamParams: adam,
  assignSessionProjectRequest: shape({ projectId: some }),
  auditLogQuery: shape(
    { eventType: fc.constantFrom('all', 'checkpoints', 'projects', 'teams', 'organizations') },
    { day: fc.constant('2026-01-15') },
  ),
  auditLogResponse: shape({
    entries: fc.array(shape({ timestamp: date, event: text, eventDetails: json }, { modelId: text, tinkerPath: text, purpose: text }), {
      maxLength: 3,
    }),
  }),
  authTokenRequest: empty,
  authTokenResponse: shape({ jwt: text }),
  billingUsageQuery: shape({ startingOn: fc.constant('2026-07-13T00:00:00Z'), endingBefore: fc.constant('2026-07-14T00:00:00+02:00') }),
  billingUsageResponse: shape(
    {
      data: fc.array(
        shape(
          { bucketStart: date, bucketEnd: date, eventInfo: usage },
          {
            baseModel: text,
            userId: text,
            userName: text,
            sessionId: text,
            projectId: text,
            estimatedCostUsd: number,
            effectiveRateUsdPerMillionTokens: number,
            effectiveRateUsdPerGigabyteMonth: number,
          },
        ),
        { maxLength: 3 },
      ),
      sessions: map(shape({}, { userMetadata: map(text) })),
    },
    { costDataThrough: date },
  ),
  cancelFutureRequest: shape({ requestId: text }),
  checkpoint,
  checkpointArchiveUrlResponse: shape({ url: text, expires: date }),
  checkpointsListResponse: shape({ checkpoints: fc.array(checkpoint, { maxLength: 3 }) }, { cursor }),
  clientConfigRequest: shape({ sdkVersion: text }),
  clientConfigResponse: shape(flags),
  clientDynamicConfigResponse: shape({ refreshIntervalSec: count, sampleCancelEnabled: fc.boolean(), sampleCancelMaxBatchSize: count }),
  copyWeightsRequest: shape(
    { sourcePath: path },
    { destinationProjectId: some, ttlSeconds: seq, sessionId: text, modelSeqId: count, weightsAccessToken: text },
  ),
  copyWeightsResponse: shape({ tinkerPath: text }),
  createCustomLossRequest: shape({
    sessionId: text,
    customLossSeqId: count,
    name: some,
    inputs: fc.array(shape({ name: some, rank: fc.constantFrom(0, 1, 2) }), { minLength: 1, maxLength: 3 }),
    graph: shape({ format: fc.constant(1), nodes: fc.array(lossNode, { minLength: 1, maxLength: 4 }) }),
  }),
  createCustomLossResponse: shape({ lossId: text }),
  createModelRequest: shape(
    { sessionId: text, modelSeqId: count, baseModel: some },
    { userMetadata: json, loraConfig: lora, optimizerConfig: optimizer },
  ),
  createModelResponse: shape({ modelId: text }),
  createSamplingSessionRequest: shape({ sessionId: text, samplingSessionSeqId: count, modelPath: path }, { baseModel: text }),
  createSamplingSessionResponse: shape({ samplingSessionId: text }),
  createSessionRequest: shape(
    { tags: texts, userMetadata: fc.oneof(json, fc.constant(null)), sdkVersion: text },
    { projectId: text, displayName: text },
  ),
  createSessionResponse: shape({ sessionId: text }, { infoMessage: text, warningMessage: text, errorMessage: text }),
  cursor,
  dimuonParams: shape(dimuon),
  currentCheckpointStorageUsageResponse: shape(
    {
      data: fc.array(
        shape(
          { checkpointCount: count, sizeBytes: count, sizeGigabytes: number },
          { projectId: text, orgUserUrn: text, userEmail: text, userName: text, estimatedMonthlyCostUsd: number },
        ),
        { maxLength: 3 },
      ),
    },
    { effectiveRateUsdPerGigabyteMonth: number },
  ),
  datumCodec: requests({ onlyFinite: true }).map(({ data }) => data[0]),
  finishSessionRequest: shape({ reason: finish, detail: fc.option(text) }),
  externalWeightsUrlsResponse: shape({ urls: map(text), expires: date }),
  forwardBackwardOutput: outputs({ onlyFinite: true }),
  forwardBackwardRequest: requests({ onlyFinite: true }),
  futureMetadataResponse: shape({ status: fc.constant('complete_metadata'), responsePayloadSize: count }),
  futureRetrieveRequest: shape({ requestId: text, allowMetadataOnly: fc.boolean() }),
  futuresRetrieveRequest: shape(
    {
      target: shape({ type: fc.constant('sampling_session'), samplingSessionId: text, clonedSamplerId: count }),
      prevCursor: count,
      retrievedRequestIds: texts,
    },
    { timeout: positive },
  ),
  futuresRetrieveResponse: shape({
    completions: fc.array(
      fc.oneof(
        shape({ state: fc.constant('finished'), requestId: text }, { responsePayloadUncompressedSize: count }),
        shape({ state: fc.constant('failed'), requestId: text }),
      ),
      { maxLength: 3 },
    ),
    cursor: count,
  }),
  getInfoRequest: shape({ modelId: text }),
  getInfoResponse: shape(
    { modelId: text, modelData: shape({}, { arch: text, modelName: text, tokenizerId: text }), optimizerConfig: optimizer },
    { isLora: fc.boolean(), loraRank: count, modelName: text },
  ),
  getSamplerResponse: shape({ samplerId: text, baseModel: text }, { modelPath: text }),
  getServerCapabilitiesResponse: shape({
    supportedModels: fc.array(shape({}, { modelName: text, maxContextLength: count, trainable: fc.boolean(), sampleable: fc.boolean() }), {
      maxLength: 3,
    }),
  }),
  getSessionQuery: shape({ accessScope: scope }),
  getSessionResponse: shape({ trainingRunIds: texts, samplerIds: texts }, { userMetadata: map(text), displayName: text }),
  getTrainingRunQuery: shape({ accessScope: scope }),
  healthResponse: fc.constant({ status: 'ok' }),
  joinSamplingSessionRequest: shape({ samplingSessionId: text }),
  joinSamplingSessionResponse: shape({ clientCounter: count }),
  listSessionsQuery: shape({ limit: count, offset: count, accessScope: scope }),
  listSessionsResponse: shape({ sessions: texts }),
  listTrainingRunsQuery: shape({ limit: count, offset: count, accessScope: scope }, { projectId: text }),
  listUserCheckpointsQuery: shape({ limit: count, offset: count }),
  loadWeightsRequest: fc.oneof(
    shape({ modelId: text, path: some, optimizer: fc.boolean() }, { seqId: seq, weightsAccessToken: text }),
    shape(
      { sessionId: text, modelSeqId: count, path: some, optimizer: fc.boolean() },
      { baseModel: text, userMetadata: json, weightsAccessToken: text },
    ),
    shape({ sessionId: text, modelSeqId: count, path: some, optimizer: fc.constant(false) }, { optimizerConfig: optimizer }),
  ),
  loadWeightsResponse: shape({}, { path: text, modelId: text }),
  loraConfig: lora,
  optimStepRequest: fc.oneof(
    shape({ adamParams: adam, modelId: text }, { seqId: seq }),
    shape({ optimizerParams: shape({ type: fc.constant('dimuon'), ...dimuon }), modelId: text }, { seqId: seq }),
    shape({ optimizerParams: fc.constant({ type: 'other', raw: { type: 'brand_new', x: 1 } }), modelId: text }, { seqId: seq }),
  ),
  optimStepResponse: shape({}, { metrics: map(number) }),
  requestFailedResponse: shape({ error: text, category: fc.constantFrom('user', 'server', 'unknown') }),
  sampleRequest: shape(
    { numSamples: seq, prompt: modelInputs(), samplingParams: params, promptLogprobs: fc.constant(true), topkPromptLogprobs: count },
    {
      samplingSessionId: text,
      seqId: fc.oneof(count, fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n })),
      baseModel: text,
      modelPath: text,
      topkSampleLogprobs: count,
      targetPromptLogprobs: targetPrompts,
      promptAltTokensK: count,
      promptLogprobsLastN: seq,
      recordStabilityInfo: fc.boolean(),
    },
  ),
  sampleResponse: samples({ onlyFinite: true }),
  samplingParams: params,
  saveWeightsExternalRequest: shape(
    { modelId: text, path: some },
    { seqId: seq, ttlSeconds: seq, ageEncryptionRecipients: fc.array(some, { maxLength: 10 }) },
  ),
  saveWeightsExternalResponse: shape({}, { path: text, sizeBytes: count }),
  saveWeightsForSamplerRequest: fc.oneof(
    shape({ modelId: text, path: text }, { seqId: seq, ttlSeconds: seq, userMetadata: map(text) }),
    shape({ modelId: text, samplingSessionSeqId: count }, { seqId: seq }),
  ),
  saveWeightsForSamplerResponse: shape({}, { path: text, samplingSessionId: text }),
  saveWeightsRequest: shape(
    { modelId: text, overwrite: fc.boolean() },
    { path: text, seqId: seq, ttlSeconds: seq, userMetadata: map(text) },
  ),
  saveWeightsResponse: shape({ path: text }),
  selfApiKeyResponse: shape({
    keyId: count,
    name: text,
    note: text,
    details: shape({ orgDetails: shape({ name: text }), userDetails: shape({ email: text }) }),
  }),
  sessionHeartbeatRequest: shape({ sessionId: text }),
  sessionHeartbeatResponse: empty,
  sessionSearchRequest: shape(
    { userMetadata: map(text), owner: ownerFilter, limit: fc.integer({ min: 1, max: 200 }) },
    {
      sessionId: text,
      projectIds: texts,
      displayName: some,
      statuses: fc.array(statusFilter, { minLength: 1, maxLength: 3 }),
      cursor: searchCursor,
    },
  ),
  sessionSearchResponse: shape({ sessions: fc.array(sessionSummary, { maxLength: 3 }) }, { nextCursor: searchCursor }),
  setCheckpointTtlRequest: shape({ ttlSeconds: fc.option(seq) }),
  storageUsageQuery: shape({}, { projectId: some }),
  telemetryRequest: shape({
    events: fc.array(telemetryEvent, { minLength: 1, maxLength: 4 }),
    platform: text,
    sdkVersion: text,
    sessionId: text,
    processUuid: text,
  }),
  telemetryResponse: fc.constant({ status: 'accepted' }),
  traceExportResponse: shape({ status: fc.constantFrom('pending', 'ready', 'failed') }, { url: text, error: text }),
  trainingRun: run,
  trainingRunsResponse: shape({ trainingRuns: fc.array(run, { maxLength: 2 }), cursor }),
  tryAgainResponse: shape(
    { queueState: fc.constantFrom('active', 'paused_capacity', 'paused_rate_limit', 'unknown') },
    { requestId: text, queueStateReason: text },
  ),
  unloadModelRequest: shape({ modelId: text }),
  unloadModelResponse: shape({ modelId: text }),
  untypedApiFuture: shape({ requestId: text }, { modelId: text, sampleSequenceIds: texts }),
  weightsInfoRequest: shape({ tinkerPath: text }),
  weightsInfoResponse: shape(
    { baseModel: text, optimizerConfig: optimizer, isLora: fc.boolean() },
    { loraRank: count, trainUnembed: fc.boolean(), trainMlp: fc.boolean(), trainAttn: fc.boolean() },
  ),
  whoamiResponse: shape({ userUrn: text }, { orgUrn: text, email: text }),
};

function isCodec(value: unknown): value is AnyCodec {
  return typeof value === 'object' && value !== null && 'encode' in value && 'decode' in value && 'fields' in value;
}

const codecs = new Map(Object.entries<unknown>(wire).filter((entry): entry is [string, AnyCodec] => isCodec(entry[1])));

it('every exported codec and every codec of the endpoints is covered here', () => {
  expect([...codecs.keys()].toSorted()).toEqual(Object.keys(values).toSorted());
  for (const endpoint of Object.values<wire.Endpoint>(endpoints)) {
    for (const codec of [endpoint.request, endpoint.query, endpoint.response, endpoint.result]) {
      if (codec !== undefined) expect([...codecs.values()]).toContain(codec);
    }
  }
});

describe.each([...codecs])('%s', (name, codec) => {
  it('gives back what it was given, through JSON text', () => {
    fc.assert(
      fc.property(values[name] ?? empty, (value) => {
        const wire = codec.encode(value as never);
        expect(codec.decode(parseJson(stringifyJson(wire)))).toEqual(value);
      }),
      { numRuns: 40 },
    );
  });

  it('never writes null or undefined for a field that is unset, and no field in camelCase', () => {
    const isNullable = ['createSessionRequest', 'finishSessionRequest', 'setCheckpointTtlRequest', 'sampleResponse'].includes(name);
    fc.assert(
      fc.property(values[name] ?? empty, (value) => {
        for (const [key, own] of Object.entries(codec.encode(value as never))) {
          expect(own).not.toBeUndefined();
          if (!isNullable) expect(own).not.toBeNull();
          expect(key).toMatch(/^[a-z][a-z0-9_]*$/);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('answers anything at all with a value or a ValidationError', () => {
    fc.assert(
      fc.property(fc.anything(), (wire) => {
        for (const attempt of [() => codec.decode(wire), () => codec.encode(wire as never)]) {
          try {
            attempt();
          } catch (error) {
            expect(ValidationError.isInstance(error), String(error)).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('refuses or keeps aside an unknown field, by the direction it travels', () => {
    const [value] = fc.sample(values[name] ?? empty, { numRuns: 1, seed: 7 });
    const wire = JSON.parse(stringifyJson(codec.encode(value as never))) as object;
    const isResponse = /Response$|^checkpoint$|^cursor$|^trainingRun$|Output$|^untypedApiFuture$/.test(name);
    if (isResponse) expect(unknownFields(codec.decode({ ...wire, brand_new: 1 }) as object)).toEqual({ brand_new: 1 });
    else {
      expect(() => codec.decode({ ...wire, brand_new: 1 })).toThrow(/brand_new is not a known field/);
      expect(() => codec.encode({ ...(value as object), brandNew: 1 } as never)).toThrow(/brandNew is not a known option/);
    }
  });
});
