import { describe, expect, it } from 'vitest';
import { type SampleResponse, TensorData, TopkLogprobs } from '../src/index.js';
import { protobuf, sampleResponse } from '../src/wire.js';
import { sampleBytes } from './messages.js';

describe('JSON.stringify', () => {
  it('writes a tensor as plain arrays', () => {
    expect(
      JSON.stringify(
        TensorData.fromArray(
          [
            [1, 0.5],
            [Number.NaN, 2],
          ],
          'float32',
        ),
      ),
    ).toBe('[[1,0.5],[null,2]]');
    expect(JSON.stringify(TensorData.fromArray([1n, 2n ** 60n]))).toBe('[1,"1152921504606846976"]');
  });

  it('writes the most likely tokens as pairs', () => {
    expect(JSON.stringify(TopkLogprobs.fromList([null, [[7, -0.5]]]))).toBe('[null,[[7,-0.5]]]');
  });

  const sample: SampleResponse = {
    sequences: [{ tokens: Int32Array.of(10, 52), logprobs: Float32Array.of(-0.5, -1), stopReason: 'stop' }],
    promptLogprobs: Float32Array.of(Number.NaN, -2),
    promptCacheHitTokens: 0,
  };
  const json = { sequences: [{ tokens: [10, 52], logprobs: [-0.5, -1], stop_reason: 'stop' }], prompt_logprobs: [null, -2] };
  it.each<[string, SampleResponse]>([
    ['JSON', sampleResponse.decode(json)],
    ['protobuf', protobuf.sampleResponse.decode(sampleBytes(sample))],
  ])('writes a sample that arrived as %s with plain arrays', (_, response) => {
    expect(JSON.parse(JSON.stringify(response))).toEqual({
      sequences: [{ tokens: [10, 52], logprobs: [-0.5, -1], stopReason: 'stop' }],
      promptLogprobs: [null, -2],
      promptCacheHitTokens: 0,
    });
    expect(Object.keys(response)).not.toContain('toJSON');
  });
});

describe('console.log', () => {
  it('shows element type, shape and content of a tensor', () => {
    // What Node, Deno and Bun call. Browsers show the object itself.
    const show = Reflect.get(TensorData.prototype, Symbol.for('nodejs.util.inspect.custom')) as (...args: unknown[]) => string;
    const tensor = TensorData.fromArray([[1, 2]], 'float32');
    const fields = (value: object) => Object.keys(value).join(', ');
    expect(show.call(tensor, 2, {}, fields)).toBe('TensorData dtype, shape, data');
  });
});
