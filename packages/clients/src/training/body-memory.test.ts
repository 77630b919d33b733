import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyMemory } from './body-memory.js';

const MEGABYTE = 2 ** 20;

describe('memory of bodies', () => {
  it('is used again once it was given back, for bodies of about the same size', () => {
    const buffers = new BodyMemory(8 * MEGABYTE);
    const first = buffers.take(MEGABYTE);
    expect(buffers.take(MEGABYTE).buffer).not.toBe(first.buffer);
    buffers.giveBack(first);
    const again = buffers.take(MEGABYTE - 1_000);
    expect(again.buffer).toBe(first.buffer);
    expect(again).toHaveLength(MEGABYTE - 1_000);
  });

  it('is not wasted on a small body', () => {
    const buffers = new BodyMemory(8 * MEGABYTE);
    const large = buffers.take(4 * MEGABYTE);
    buffers.giveBack(large);
    expect(buffers.take(1_000).buffer).not.toBe(large.buffer);
  });

  it('is never used again when it was abandoned, nor given back twice', () => {
    const buffers = new BodyMemory(8 * MEGABYTE);
    const first = buffers.take(MEGABYTE);
    buffers.abandon(first);
    buffers.giveBack(first);
    expect(buffers.take(MEGABYTE).buffer).not.toBe(first.buffer);
    const second = buffers.take(MEGABYTE);
    buffers.giveBack(second);
    buffers.giveBack(second);
    expect(buffers.take(MEGABYTE).buffer).toBe(second.buffer);
    expect(buffers.take(MEGABYTE).buffer).not.toBe(second.buffer);
  });

  it('beyond the limit is ordinary memory, and a limit of 0 keeps nothing', () => {
    const buffers = new BodyMemory(0);
    const body = buffers.take(MEGABYTE);
    buffers.giveBack(body);
    expect(body).toHaveLength(MEGABYTE);
    expect(buffers.take(MEGABYTE).buffer).not.toBe(body.buffer);
    expect(buffers.size).toBe(0);
  });

  it('makes room for another size by dropping what is free', () => {
    const buffers = new BodyMemory(2 * MEGABYTE);
    buffers.giveBack(buffers.take(MEGABYTE));
    const large = buffers.take(2 * MEGABYTE);
    buffers.giveBack(large);
    expect(buffers.take(2 * MEGABYTE).buffer).toBe(large.buffer);
    expect(buffers.size).toBe(2 * MEGABYTE);
  });

  it('stays within its limit, and no two that are lent share memory, whatever is taken and given back', () => {
    const action = fc.tuple(fc.constantFrom('take', 'give', 'abandon'), fc.integer({ min: 0, max: 3 * MEGABYTE }));
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const buffers = new BodyMemory(5 * MEGABYTE);
        const lent: Uint8Array[] = [];
        for (const [kind, number] of actions) {
          if (kind === 'take') lent.push(buffers.take(number));
          else {
            const [body] = lent.splice(number % Math.max(lent.length, 1), 1);
            if (body !== undefined) kind === 'give' ? buffers.giveBack(body) : buffers.abandon(body);
          }
          expect(buffers.size).toBeLessThanOrEqual(5 * MEGABYTE);
          expect(new Set(lent.map(({ buffer }) => buffer)).size).toBe(lent.length);
        }
      }),
    );
  });
});
