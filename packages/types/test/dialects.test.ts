import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { datum, ModelInput, ValidationError } from '../src/index.js';
import {
  forwardBackwardOutput,
  forwardBackwardRequest,
  parseJson,
  protobuf,
  sampleRequest,
  sampleResponse,
  stringifyJson,
} from '../src/wire.js';
import { modelInputs, outputs, requests, samples } from './arbitraries.js';
import { outputBytes, requestBytes, sampleBytes } from './messages.js';

/** fast-check reads a returned value as the outcome; an assertion must return nothing. */
function same(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
}

const throughText = (wire: Parameters<typeof stringifyJson>[0]) => parseJson(stringifyJson(wire));

describe('protobuf dialect', () => {
  it('writes every request as the generated code does', () => {
    fc.assert(
      fc.property(requests({ onlyFinite: false }), (request) =>
        same(protobuf.forwardBackwardRequest.encode(request), requestBytes(request)),
      ),
    );
  });

  it('reads every output', () => {
    fc.assert(fc.property(outputs(), (output) => same(protobuf.forwardBackwardOutput.decode(outputBytes(output)), output)));
  });

  it('reads every sample', () => {
    fc.assert(fc.property(samples(), (sample) => same(protobuf.sampleResponse.decode(sampleBytes(sample)), sample)));
  });

  it('reads the same at any alignment', () => {
    fc.assert(
      fc.property(outputs(), samples(), fc.integer({ min: 1, max: 7 }), (output, sample, offset) => {
        const shift = (bytes: Uint8Array) => {
          const shifted = new Uint8Array(bytes.length + offset);
          shifted.set(bytes, offset);
          return shifted.subarray(offset);
        };
        for (const move of [shift, (bytes: Uint8Array) => globalThis.Buffer?.from(bytes) ?? bytes]) {
          expect(protobuf.forwardBackwardOutput.decode(move(outputBytes(output)))).toEqual(output);
          expect(protobuf.sampleResponse.decode(move(sampleBytes(sample)))).toEqual(sample);
        }
      }),
    );
  });
});

describe('memory of the caller', () => {
  it('is written into, at any place and whatever it contained, with the same bytes', () => {
    fc.assert(
      fc.property(requests({ onlyFinite: false }), fc.nat(16), (request, offset) => {
        const memory = new Uint8Array(offset + 100_000).fill(0xa5);
        const bytes = protobuf.forwardBackwardRequest.encode(request, (size) => memory.subarray(offset, offset + size));
        expect(bytes.buffer).toBe(memory.buffer);
        expect([...bytes]).toEqual([...protobuf.forwardBackwardRequest.encode(request)]);
      }),
    );
  });

  it('must have the right length', () => {
    const request = {
      modelId: 'm',
      seqId: 1,
      lossFn: 'cross_entropy',
      data: [datum({ modelInput: ModelInput.fromInts([1]), lossFnInputs: { targetTokens: [2] } })],
    };
    expect(() => protobuf.forwardBackwardRequest.encode(request, (size) => new Uint8Array(size + 1))).toThrow(ValidationError);
  });
});

describe('memory of a received body', () => {
  const sampleOf = (length: number, first = 0) => ({
    sequences: [
      {
        tokens: Int32Array.from({ length }, (_, index) => first + index),
        logprobs: new Float32Array(length).fill(first),
        stopReason: 'stop' as const,
      },
    ],
    promptCacheHitTokens: 0,
  });
  /** The same body at each place relative to the alignment of its numbers. */
  const bodiesOf = (sample: ReturnType<typeof sampleOf>) => {
    const bytes = sampleBytes(sample);
    return [0, 1, 2, 3].map((offset) => {
      const body = new Uint8Array(new ArrayBuffer(bytes.length + offset), offset);
      body.set(bytes);
      return body;
    });
  };

  it.each([1, 15, 16])('is not kept for %i numbers, and no two results share theirs', (length) => {
    for (const body of bodiesOf(sampleOf(length, 5))) {
      const decoded = protobuf.sampleResponse.decode(body);
      const other = protobuf.sampleResponse.decode(sampleBytes(sampleOf(length, 9)));
      body.fill(0xff);
      expect(decoded).toEqual(sampleOf(length, 5));
      expect(other).toEqual(sampleOf(length, 9));
      const { tokens, logprobs } = decoded.sequences[0] as (typeof decoded.sequences)[number];
      expect([tokens.byteLength, logprobs?.byteLength]).toEqual([tokens.buffer.byteLength, logprobs?.buffer.byteLength]);
    }
  });

  it.each([17, 1_000])('is used for %i numbers where they are aligned, else copied', (length) => {
    const sample = sampleOf(length, 5);
    const kinds = bodiesOf(sample).map((body) => {
      const decoded = protobuf.sampleResponse.decode(body);
      expect(decoded).toEqual(sample);
      return decoded.sequences[0]?.tokens.buffer === body.buffer;
    });
    expect(kinds.filter((isView) => isView)).toHaveLength(1);
  });
});

describe('JSON dialect', () => {
  it('gives back every request', () => {
    fc.assert(
      fc.property(requests({ onlyFinite: true }), (request) =>
        same(forwardBackwardRequest.decode(throughText(forwardBackwardRequest.encode(request))), request),
      ),
    );
  });

  it('gives back every output', () => {
    fc.assert(
      fc.property(outputs({ onlyFinite: true }), (output) =>
        same(forwardBackwardOutput.decode(throughText(forwardBackwardOutput.encode(output))), output),
      ),
    );
  });

  it('gives back every sample', () => {
    fc.assert(
      fc.property(samples({ onlyFinite: true }), (sample) =>
        same(sampleResponse.decode(throughText(sampleResponse.encode(sample))), sample),
      ),
    );
  });

  it('gives back every prompt', () => {
    fc.assert(
      fc.property(modelInputs(), (prompt) => same(sampleRequest.decode(throughText(sampleRequest.encode({ prompt }))).prompt, prompt)),
    );
  });
});

describe('both dialects', () => {
  it('give the same objects', () => {
    fc.assert(
      fc.property(outputs({ onlyFinite: true }), samples({ onlyFinite: true }), (output, sample) => {
        expect(forwardBackwardOutput.decode(throughText(forwardBackwardOutput.encode(output)))).toEqual(
          protobuf.forwardBackwardOutput.decode(outputBytes(output)),
        );
        expect(sampleResponse.decode(throughText(sampleResponse.encode(sample)))).toEqual(
          protobuf.sampleResponse.decode(sampleBytes(sample)),
        );
      }),
    );
  });
});
