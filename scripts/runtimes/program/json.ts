import type { JsonObject } from '../../../packages/types/src/index.js';
import * as wire from '../../../packages/types/src/wire.js';
import {
  type AnyCodec,
  endpoints,
  forwardBackwardOutput,
  forwardBackwardRequest,
  parseJson,
  sampleRequest,
  sampleResponse,
  stringifyJson,
  unknownFields,
} from '../../../packages/types/src/wire.js';
import { type Check, check, refuses, same } from './check.js';
import { protobuf } from './codecs.js';
import { everyChunk, everyOutput, everyRequest, everySample, extremeFloats, finiteFloats, large } from './values.js';
import { eachCase } from './vectors.js';

interface Parsing {
  readonly ok: boolean;
  readonly value?: JsonObject;
}

const throughText = (wire: JsonObject) => parseJson(stringifyJson(wire));
const utf8 = (text: string) => new TextEncoder().encode(text);

/** The JSON dialect: bodies and answers of the vectors, the same objects as in protobuf, exact numbers, text of any script. */
export const jsonChecks: readonly Check[] = [
  ...eachCase<{ readonly endpoint: string }, JsonObject>('requestBodies', ({ endpoint }, body) => {
    const codec = bodyCodec(endpoint);
    same(JSON.parse(stringifyJson(codec.encode(codec.decode(body) as never))), body);
  }),
  ...eachCase<{ readonly type: string; readonly body: JsonObject }, Parsing>('responseParsing', ({ type, body }, expected, name) => {
    const codec = answerCodec(type);
    // On purpose more tolerant than the reference: docs/decisions/0103-more-tolerant-than-the-reference.md
    const isTolerated = name === 'billing-unknown-kind' || name === 'billing-extra-field';
    if (!expected.ok && !isTolerated) return refuses(() => codec.decode(body));
    const value = codec.decode(body);
    if (expected.ok) same(present(codec.encode(value as never)), present(expected.value));
  }),
  check('a request is the same in both dialects', () => {
    const request = everyRequest(finiteFloats);
    same(forwardBackwardRequest.decode(throughText(forwardBackwardRequest.encode(request))), request);
    same(protobuf.forwardBackwardRequest.decode(protobuf.forwardBackwardRequest.encode(request)), request);
  }),
  check('a result is the same in both dialects', () => {
    const output = everyOutput(finiteFloats);
    same(forwardBackwardOutput.decode(throughText(forwardBackwardOutput.encode(output))), output);
    same(protobuf.forwardBackwardOutput.decode(protobuf.forwardBackwardOutput.encode(output)), output);
  }),
  check('a sample is the same in both dialects', () => {
    const { promptLogprobs: _, ...sample } = everySample(finiteFloats);
    same(sampleResponse.decode(throughText(sampleResponse.encode(sample))), sample);
    same(protobuf.sampleResponse.decode(protobuf.sampleResponse.encode(sample)), sample);
  }),
  check('a prompt with every kind of chunk comes back', () => {
    const wire = throughText(sampleRequest.encode({ prompt: everyChunk, samplingParams: { seed: 2n ** 63n - 1n, maxTokens: 4 } }));
    const { prompt, samplingParams } = sampleRequest.decode(wire);
    same(prompt, everyChunk);
    same(samplingParams?.seed, 2n ** 63n - 1n);
  }),
  check('large requests and results come back', () => {
    same(forwardBackwardRequest.decode(throughText(forwardBackwardRequest.encode(large.request))), large.request);
    same(forwardBackwardOutput.decode(throughText(forwardBackwardOutput.encode(large.output))), large.output);
  }),
  check('integers beyond 2^53 are exact in text', () => {
    const text = '{"a":9223372036854775807,"b":[-9223372036854775808,1,0.5,1e300],"c":"9223372036854775807","d":12}';
    const value = parseJson(text) as JsonObject;
    same(value, { a: 2n ** 63n - 1n, b: [-(2n ** 63n), 1, 0.5, 1e300], c: '9223372036854775807', d: 12 });
    same(stringifyJson(value), text.replace('1e300', '1e+300'));
  }),
  check('NaN and infinities are refused in text', () => {
    refuses(() => stringifyJson({ value: Number.NaN }));
    refuses(() => stringifyJson({ value: Float32Array.of(Number.POSITIVE_INFINITY) }));
    refuses(() => stringifyJson(forwardBackwardRequest.encode(everyRequest(extremeFloats))));
  }),
  check('UTF-8 is read, with or without a byte order mark; other bytes are refused', () => {
    same(parseJson(utf8('{"é😀":"\\ud83d\\ude00\u2028"}')), { 'é😀': '😀\u2028' });
    same(parseJson(utf8('\ufeff[1]')), [1]);
    refuses(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22)));
    refuses(() => parseJson(new Uint8Array(0)));
    refuses(() => parseJson('{"a":'));
  }),
  check('an error of the engine, which may quote a secret, is not passed on', () => {
    try {
      parseJson('tml-secret');
    } catch (error) {
      same([String(error).includes('secret'), (error as Error).cause], [false, undefined]);
      return;
    }
    throw new Error('no error');
  }),
  check('unknown fields of an answer stay reachable', () => {
    const value = wire.getServerCapabilitiesResponse.decode({ supported_models: [{ model_name: 'q' }], region: 'eu' });
    same(unknownFields(value), { region: 'eu' });
  }),
  check('times are read with every way to write a zone', () => {
    const read = (time: string) => wire.checkpoint.decode({ ...checkpointWire, time }).time.getTime();
    const moment = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    for (const time of [
      '2026-01-02T03:04:05.678901Z',
      '2026-01-02 03:04:05.678',
      '2026-01-02T05:04:05.678+02:00',
      '2026-01-01T21:34:05,678-0530',
    ]) {
      same(read(time), moment);
    }
    refuses(() => read('2026-02-30T00:00:00Z'));
  }),
];

const checkpointWire = { checkpoint_id: 'weights/1', checkpoint_type: 'training', tinker_path: 'tinker://r/weights/1' };

function bodyCodec(endpoint: string): AnyCodec {
  const found = Object.values(endpoints).find(({ method, path }) => {
    const pattern = `${method} ${path}`.replace('{checkpoint_id}', '[^ ]+').replace(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(endpoint);
  });
  const codec: AnyCodec | undefined = found !== undefined && 'request' in found ? found.request : undefined;
  if (codec === undefined) throw new Error(`no codec for ${endpoint}`);
  return codec;
}

const OTHER_NAMES: Readonly<Record<string, string>> = {
  UntypedAPIFuture: 'untypedApiFuture',
  SaveWeightsForSamplerResponseInternal: 'saveWeightsForSamplerResponse',
};

function answerCodec(type: string): AnyCodec {
  const name = OTHER_NAMES[type] ?? `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
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
