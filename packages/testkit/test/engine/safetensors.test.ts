import { describe, expect, it } from 'vitest';
import { EngineUserError } from '../../src/engine/engine.js';
import { decodeSafetensors, encodeSafetensors } from '../../src/engine/safetensors.js';

const file = {
  tensors: [
    { name: 'x', shape: [2, 1], values: Float32Array.of(1, -2.5) },
    { name: 'y', shape: [1], values: Float32Array.of(1e-45) },
  ],
  metadata: { step: '3' },
};

describe('safetensors', () => {
  it('has the documented layout: length, JSON header, little-endian data', () => {
    const bytes = encodeSafetensors(file);
    const view = new DataView(bytes.buffer);
    const headerLength = Number(view.getBigUint64(0, true));
    expect(headerLength % 8).toBe(0);
    expect(JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerLength)))).toEqual({
      __metadata__: { step: '3' },
      x: { dtype: 'F32', shape: [2, 1], data_offsets: [0, 8] },
      y: { dtype: 'F32', shape: [1], data_offsets: [8, 12] },
    });
    expect(Array.from(bytes.subarray(8 + headerLength, 16 + headerLength))).toEqual([0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]);
    expect(bytes).toHaveLength(8 + headerLength + 12);
  });

  it('reads back every bit, from a view that is not aligned', () => {
    const bytes = encodeSafetensors(file);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    expect(decodeSafetensors(shifted.subarray(1))).toEqual(file);
  });

  it.each([
    ['nothing', new Uint8Array(3)],
    ['a header beyond the end', Uint8Array.of(255, 0, 0, 0, 0, 0, 0, 0, 123)],
    ['a header that is not JSON', Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0, 91, 91)],
    ['data cut short', encodeSafetensors(file).subarray(0, -1)],
    ['another dtype', new TextEncoder().encode(`\x22\0\0\0\0\0\0\0{"x":{"dtype":"BF16","shape":[1]}} `)],
  ])('refuses %s', (_case, bytes) => {
    expect(() => decodeSafetensors(bytes)).toThrow(EngineUserError);
  });
});
