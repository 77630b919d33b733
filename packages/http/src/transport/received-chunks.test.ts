import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ReceivedChunks } from './received-chunks.js';

/** How many pieces are held, taking them all out. */
function pieces(chunks: ReceivedChunks): Uint8Array[] {
  const taken: Uint8Array[] = [];
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) taken.push(chunk);
  return taken;
}

it('a million single bytes are held in a few pieces', () => {
  const chunks = new ReceivedChunks();
  for (let index = 0; index < 1_000_000; index += 1) chunks.push(Uint8Array.of(index));
  expect(chunks.byteLength).toBe(1_000_000);
  const taken = pieces(chunks);
  expect(taken.length).toBeLessThan(100);
  expect(taken.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(1_000_000);
  expect(chunks.byteLength).toBe(0);
});

it('a small piece between large ones does not keep a whole block', () => {
  const chunks = new ReceivedChunks();
  for (let index = 0; index < 1_000; index += 1) chunks.push(new Uint8Array(index % 2 === 0 ? 1 : 4_096));
  const held = pieces(chunks).reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  expect(held).toBeLessThan(2 * 500 * 4_097);
});

it('the bytes stay in order, whatever their pieces and however they are taken', () => {
  const sizes = fc.array(fc.oneof(fc.nat(5), fc.integer({ min: 4_000, max: 5_000 })), { maxLength: 200 });
  fc.assert(
    fc.property(sizes, fc.nat(10), (lengths, every) => {
      const chunks = new ReceivedChunks();
      const sent: number[] = [];
      const received: number[] = [];
      for (const [index, length] of lengths.entries()) {
        const chunk = new Uint8Array(length).fill(index);
        sent.push(...chunk);
        chunks.push(chunk);
        if (every > 0 && index % every === 0) received.push(...(chunks.shift() ?? []));
      }
      received.push(...chunks.takeAll());
      expect(received).toEqual(sent);
      expect(chunks.byteLength).toBe(0);
    }),
    { numRuns: 50 },
  );
});
