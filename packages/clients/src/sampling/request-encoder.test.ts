import { encodedText, image, ModelInput } from '@tinkex/types';
import { parseJson, type SampleRequest, sampleRequest, stringifyJson } from '@tinkex/types/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SampleRequestEncoder } from './request-encoder.js';

const base: SampleRequest = { prompt: ModelInput.fromInts([1]), samplingSessionId: 's:sample:0', seqId: 0 };
const text = (encoder: SampleRequestEncoder, request: SampleRequest) => new TextDecoder().decode(encoder.encode(request));
const byCodec = (request: SampleRequest) => parseJson(stringifyJson(sampleRequest.encode(request)));

describe('SampleRequestEncoder', () => {
  it('writes what the codec writes, first time and later, for any request', () => {
    const encoder = new SampleRequestEncoder();
    const params = fc.record(
      {
        maxTokens: fc.nat(),
        seed: fc.oneof(fc.maxSafeNat(), fc.bigInt(0n, 2n ** 63n - 1n)),
        stop: fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 3 }), fc.array(fc.nat(1_000), { minLength: 1, maxLength: 3 })),
        temperature: fc.double({ min: 0, max: 2, noNaN: true }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2_147_483_647 }), { maxLength: 20 }),
        fc.oneof(fc.maxSafeNat(), fc.bigInt(0n, 10n ** 18n)),
        fc.integer({ min: 1, max: 9 }),
        params,
        fc.string(),
        (tokens, seqId, numSamples, samplingParams, samplingSessionId) => {
          const request = { prompt: ModelInput.fromInts(tokens), seqId, numSamples, samplingParams, samplingSessionId } as SampleRequest;
          for (const next of [request, { ...request, prompt: ModelInput.fromInts([...tokens, 7]) }]) {
            expect(parseJson(text(encoder, next))).toEqual(byCodec(next));
          }
        },
      ),
    );
  });

  it('tells any two requests apart that follow each other', () => {
    class Computed {
      readonly #maxTokens: number;
      constructor(maxTokens: number) {
        this.#maxTokens = maxTokens;
      }
      get maxTokens(): number {
        return this.#maxTokens;
      }
    }
    const params = [
      undefined,
      {},
      { maxTokens: 5 },
      { maxTokens: 6 },
      { temperature: undefined },
      { maxTokens: undefined, temperature: 0.5 },
      { temperature: 0.5 },
      { stop: ['a'] },
      { stop: ['b'] },
      { stop: 'a' },
      new Computed(7),
      new Computed(8),
      Object.create({ maxTokens: 9 }),
    ] as SampleRequest['samplingParams'][];
    const encoder = new SampleRequestEncoder();
    for (const first of params) {
      for (const second of params) {
        for (const samplingParams of [first, second]) {
          const request = (samplingParams === undefined ? base : { ...base, samplingParams }) as SampleRequest;
          expect(parseJson(text(encoder, request))).toEqual(byCodec(request));
        }
      }
    }
  });

  it('notices that the caller has changed an object', () => {
    const encoder = new SampleRequestEncoder();
    const samplingParams = { maxTokens: 5 };
    text(encoder, { ...base, samplingParams });
    samplingParams.maxTokens = 6;
    expect(text(encoder, { ...base, samplingParams })).toContain('"max_tokens":6');
  });

  it('leaves mixed prompts to the codec', () => {
    const prompt = new ModelInput([encodedText([1, 2]), image({ data: new Uint8Array([1]), format: 'png' })]);
    expect(parseJson(text(new SampleRequestEncoder(), { ...base, prompt }))).toEqual(byCodec({ ...base, prompt }));
  });

  it('is not confused by values that look like its marks', () => {
    const samplingParams = { stop: ['2147483647', '9007199254740991'], seed: 9_007_199_254_740_991 };
    const request = { ...base, samplingParams };
    expect(parseJson(text(new SampleRequestEncoder(), request))).toEqual(byCodec(request));
  });

  it('refuses what the codec refuses', () => {
    const encoder = new SampleRequestEncoder();
    expect(() => encoder.encode({ ...base, numSamples: 0 })).toThrow('numSamples');
    expect(() => encoder.encode({ ...base, samplingParams: { temperature: -1 } })).toThrow('temperature');
    expect(() => encoder.encode({ ...base, samplingParams: { stop: [1n] as never } })).toThrow('stop');
  });
});
