import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StartQueue } from './admission.js';

/** One turn of the event loop: what was due before has happened. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that notes its number when it starts. */
function notingWork(started: number[]) {
  return (id: number) => ({ start: () => void started.push(id) });
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

/** A queue of `count` works, after those that entered immediately. */
function filledQueue(limit: number, startsPerTurn: number, count: number) {
  const queue = new StartQueue(limit, startsPerTurn);
  const started: number[] = [];
  const work = notingWork(started);
  let entered = 0;
  while (queue.tryEnter()) entered += 1;
  const works = range(0, count).map(work);
  for (const each of works) queue.join(each);
  return { queue, started, works, entered };
}

describe('StartQueue', () => {
  it('admits that many at the same time, and as many again in each turn in which none ends', async () => {
    const { started, entered } = filledQueue(100, 4, 10);
    expect(entered).toBe(4);
    expect(started).toEqual([]);
    await turn();
    expect(started).toEqual(range(0, 4));
    await turn();
    expect(started).toEqual(range(0, 8));
    await turn();
    expect(started).toEqual(range(0, 10));
  });

  it('replaces only most of those that end in busy turns, so that the number under way goes down to the few', async () => {
    const { queue, started } = filledQueue(1_000, 4, 1_000);
    for (let count = 0; count < 50; count += 1) await turn();
    expect(started).toHaveLength(200);
    let underWay = 204;
    const sizes: number[] = [];
    for (let count = 0; count < 1_000 && started.length < 900; count += 1) {
      const before = started.length;
      queue.leave();
      queue.leave();
      await turn();
      underWay += started.length - before - 2;
      sizes.push(underWay);
    }
    // One in eight of some hundreds that ended is not replaced; what a quiet turn had allowed is used up first.
    expect(sizes.at(-1)).toBeLessThan(130);
    expect(sizes.at(-1)).toBeGreaterThan(100);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(204 + 4);
  });

  it('never has fewer under way than start at the same time, however many end', async () => {
    const { queue, started } = filledQueue(100, 4, 10);
    queue.leave();
    queue.leave();
    expect(started, 'they start together').toEqual([]);
    await turn();
    expect(started).toEqual([0, 1]);
  });

  it('does not wait for the end of a turn in which many end', async () => {
    const { queue, started } = filledQueue(100, 4, 50);
    for (let count = 0; count < 5; count += 1) await turn();
    expect(started).toHaveLength(20);
    for (let count = 0; count < 8; count += 1) queue.leave();
    expect(started.length).toBeGreaterThanOrEqual(24);
    expect(started.length).toBeLessThan(28);
  });

  it('lets no call overtake, and admits none beyond the limit', async () => {
    const { queue, started } = filledQueue(6, 4, 10);
    expect(queue.tryEnter()).toBe(false);
    await turn();
    expect(started).toEqual([0, 1]);
    // The lines of other tests may still be turning for a while.
    let isTurning = true;
    for (let count = 0; isTurning && count < 500; count += 1) {
      await turn();
      isTurning = process.getActiveResourcesInfo().includes('Immediate');
    }
    expect(isTurning, 'a full house waits without turning').toBe(false);
    expect(started).toEqual([0, 1]);
    queue.leave();
    await turn();
    expect(started).toEqual([0, 1, 2]);
  });

  it('never starts work that has left the queue', async () => {
    const { queue, started, works } = filledQueue(100, 4, 3);
    const [, second] = works;
    expect(second !== undefined && queue.remove(second)).toBe(true);
    await turn();
    expect(started).toEqual([0, 2]);
    expect(second !== undefined && queue.remove(second)).toBe(false);
    expect(works[0] !== undefined && queue.remove(works[0]), 'it has started').toBe(false);
  });

  it('starts all, in order and never too many, whatever ends in between', async () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('join' as const), count: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constantFrom('leave' as const, 'turn' as const), count: fc.integer({ min: 1, max: 5 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 6 }), fc.array(event), async (limit, perTurn, events) => {
        const queue = new StartQueue(limit, perTurn);
        const started: number[] = [];
        const work = notingWork(started);
        let [joined, ended] = [0, 0];
        const isWithinLimit = (): void => expect(started.length - ended).toBeLessThanOrEqual(limit);
        const leave = (): void => {
          if (started.length === ended) return;
          ended += 1;
          queue.leave();
        };
        const happen = { join: () => begin(queue, work(joined++)), leave, turn };
        for (const { kind, count } of events) {
          for (let round = 0; round < count; round += 1) {
            await happen[kind]();
            isWithinLimit();
          }
        }
        for (let round = 0; started.length < joined && round < 1_000; round += 1) {
          leave();
          await turn();
          isWithinLimit();
        }
        expect(started).toEqual(range(0, joined));
      }),
    );
  });
});

function begin(queue: StartQueue, work: { start(): void }): void {
  if (queue.tryEnter()) work.start();
  else queue.join(work);
}
