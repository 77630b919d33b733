import { systemClock } from '@tinkex/http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventQueue } from './event-queue.js';

describe('EventQueue', () => {
  it('takes a group as a whole or not at all', () => {
    const queue = new EventQueue<number>(3, systemClock);
    expect(queue.push([1, 2])).toBe(true);
    expect(queue.push([3, 4])).toBe(false);
    expect(queue.push([3])).toBe(true);
    expect(queue.peek(10)).toEqual([1, 2, 3]);
  });

  it('behaves like a plain array', () => {
    const command = fc.oneof(fc.array(fc.integer(), { maxLength: 5 }), fc.integer({ min: 0, max: 8 }));
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const queue = new EventQueue<number>(20, systemClock);
        let model: number[] = [];
        for (const next of commands) {
          if (Array.isArray(next)) {
            if (queue.push(next)) model.push(...next);
            else expect(model.length + next.length).toBeGreaterThan(20);
          } else {
            expect(queue.remove(next)).toBe(Math.min(next, model.length));
            model = model.slice(next);
          }
          expect([queue.size, queue.peek(100)]).toEqual([model.length, model]);
        }
      }),
    );
  });
});
