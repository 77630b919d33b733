import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StartLine } from './start-queue.js';

/** One turn of the event loop: what was due before has happened. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that notes its number when it starts. */
function notingWork(started: number[]) {
  return (id: number) => ({ start: () => void started.push(id) });
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

/** A line in which `count` works stand, after those that entered at once. */
function filledLine(limit: number, startsPerTurn: number, count: number) {
  const line = new StartLine(limit, startsPerTurn);
  const started: number[] = [];
  const work = notingWork(started);
  let entered = 0;
  while (line.tryEnter()) entered += 1;
  const works = range(0, count).map(work);
  for (const each of works) line.join(each);
  return { line, started, works, entered };
}

describe('StartLine', () => {
  it('lets so many in at once, and as many again in each turn in which none ends', async () => {
    const { started, entered } = filledLine(100, 4, 10);
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
    const { line, started } = filledLine(1_000, 4, 1_000);
    for (let count = 0; count < 50; count += 1) await turn();
    expect(started).toHaveLength(200);
    let underWay = 204;
    const sizes: number[] = [];
    for (let count = 0; count < 1_000 && started.length < 900; count += 1) {
      const before = started.length;
      line.leave();
      line.leave();
      await turn();
      underWay += started.length - before - 2;
      sizes.push(underWay);
    }
    // One in eight of some hundreds that ended is not replaced; what a quiet turn had allowed is used up first.
    expect(sizes.at(-1)).toBeLessThan(130);
    expect(sizes.at(-1)).toBeGreaterThan(100);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(204 + 4);
  });

  it('never has fewer under way than start at once, however many end', async () => {
    const { line, started } = filledLine(100, 4, 10);
    line.leave();
    line.leave();
    expect(started, 'they start together').toEqual([]);
    await turn();
    expect(started).toEqual([0, 1]);
  });

  it('does not wait for the end of a turn in which many end', async () => {
    const { line, started } = filledLine(100, 4, 50);
    for (let count = 0; count < 5; count += 1) await turn();
    expect(started).toHaveLength(20);
    for (let count = 0; count < 8; count += 1) line.leave();
    expect(started.length).toBeGreaterThanOrEqual(24);
    expect(started.length).toBeLessThan(28);
  });

  it('lets nobody overtake, and nobody in beyond the limit', async () => {
    const { line, started } = filledLine(6, 4, 10);
    expect(line.tryEnter()).toBe(false);
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
    line.leave();
    await turn();
    expect(started).toEqual([0, 1, 2]);
  });

  it('never starts work that has left the line', async () => {
    const { line, started, works } = filledLine(100, 4, 3);
    const [, second] = works;
    expect(second !== undefined && line.remove(second)).toBe(true);
    await turn();
    expect(started).toEqual([0, 2]);
    expect(second !== undefined && line.remove(second)).toBe(false);
    expect(works[0] !== undefined && line.remove(works[0]), 'it has started').toBe(false);
  });

  it('starts all, in order and never too many, whatever ends in between', async () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('join' as const), count: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constantFrom('leave' as const, 'turn' as const), count: fc.integer({ min: 1, max: 5 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 6 }), fc.array(event), async (limit, perTurn, events) => {
        const line = new StartLine(limit, perTurn);
        const started: number[] = [];
        const work = notingWork(started);
        let [joined, ended] = [0, 0];
        const isWithinLimit = (): void => expect(started.length - ended).toBeLessThanOrEqual(limit);
        const leave = (): void => {
          if (started.length === ended) return;
          ended += 1;
          line.leave();
        };
        const happen = { join: () => begin(line, work(joined++)), leave, turn };
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

function begin(line: StartLine, work: { start(): void }): void {
  if (line.tryEnter()) work.start();
  else line.join(work);
}
