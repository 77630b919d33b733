import { getEventListeners } from 'node:events';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, ConfigurationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { heapAfterCollection } from '../../test/support/heap.js';
import { CallScope, ClientLifetime } from '../runtime/call-scope.js';
import { mapConcurrently as map, type SampleManyOptions } from './sample-many.js';

function mapConcurrently<Input, Output>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  work: (input: Input, signal: AbortSignal) => PromiseLike<Output>,
  options: SampleManyOptions,
) {
  return map(inputs, work, options, new CallScope({ clock: new VirtualClock(), lifetime: new ClientLifetime() }, options));
}

/** Work that finishes on request, and counts. */
function bench() {
  const underWay = new Map<number, { resolve: (value: string) => void; reject: (error: unknown) => void; signal: AbortSignal }>();
  let most = 0;
  const work = (input: number, signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      underWay.set(input, { resolve, reject, signal });
      most = Math.max(most, underWay.size);
    });
  const finish = (input: number): void => {
    underWay.get(input)?.resolve(`answer-${input}`);
    underWay.delete(input);
  };
  return { work, finish, underWay, most: () => most };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function collect(inputs: Iterable<number> | AsyncIterable<number>, options: SampleManyOptions, finishing: readonly number[]) {
  const { work, finish, most } = bench();
  const order: number[] = [];
  const reading = (async () => {
    for await (const item of mapConcurrently(inputs, work, options)) order.push(item.index);
  })();
  for (const input of finishing) {
    await turn();
    finish(input);
  }
  await reading;
  return { order, most: most() };
}

describe('mapConcurrently', () => {
  it('yields in the order of completion, never more than the limit under way', async () => {
    const { order, most } = await collect([0, 1, 2, 3, 4], { concurrency: 3 }, [2, 1, 3, 4, 0]);
    expect(order).toEqual([2, 1, 3, 4, 0]);
    expect(most).toBe(3);
  });

  it('yields in the order of the input when asked', async () => {
    const { order, most } = await collect([0, 1, 2], { concurrency: 3, order: 'input' }, [2, 1, 0]);
    expect(order).toEqual([0, 1, 2]);
    expect(most).toBe(3);
  });

  it('reads no further ahead than needed', async () => {
    let read = 0;
    function* endless() {
      for (;;) yield read++;
    }
    const { work, finish } = bench();
    const items = mapConcurrently(endless(), work, { concurrency: 4 });
    const first = items.next();
    await turn();
    finish(0);
    expect((await first).value).toMatchObject({ index: 0, response: 'answer-0' });
    await items.return();
    expect(read).toBeLessThanOrEqual(5);
  });

  it('does not let a slow asynchronous source hold back results', async () => {
    let release = (): void => undefined;
    async function* slow() {
      yield 0;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      yield 1;
    }
    const { work, finish } = bench();
    const items = mapConcurrently(slow(), work, { concurrency: 2 });
    const first = items.next();
    await turn();
    finish(0);
    expect((await first).value).toMatchObject({ index: 0 });
    release();
    const second = items.next();
    await turn();
    finish(1);
    expect((await second).value).toMatchObject({ index: 1 });
    expect((await items.next()).done).toBe(true);
  });

  it('throws the first failure and aborts the calls under way', async () => {
    const { work, underWay } = bench();
    const items = mapConcurrently([0, 1, 2], work, { concurrency: 3 });
    const first = items.next();
    await turn();
    underWay.get(1)?.reject(new Error('refused'));
    await expect(first).rejects.toThrow('refused');
    expect(underWay.get(0)?.signal.aborted).toBe(true);
    expect(underWay.get(2)?.signal.aborted).toBe(true);
  });

  it('gives failures as items when asked', async () => {
    const { work, finish, underWay } = bench();
    const items = mapConcurrently([0, 1], work, { errors: 'yield', order: 'input' });
    const first = items.next();
    await turn();
    const refused = new Error('refused');
    underWay.get(0)?.reject(refused);
    expect((await first).value).toEqual({ index: 0, input: 0, error: refused });
    finish(1);
    expect((await items.next()).value).toEqual({ index: 1, input: 1, response: 'answer-1' });
  });

  it('rejects when the caller aborts, also while nothing moves, and leaves no listener', async () => {
    const { work, underWay } = bench();
    const controller = new AbortController();
    const items = mapConcurrently([0], work, { signal: controller.signal });
    const first = items.next();
    await turn();
    controller.abort();
    await expect(first).rejects.toBeInstanceOf(AbortedError);
    expect(underWay.get(0)?.signal.aborted).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('ends with an abort although the caller is busy and failures are items', async () => {
    function* endless() {
      for (let input = 0; ; input += 1) yield input;
    }
    const work = async (_: number, signal: AbortSignal) => {
      await turn();
      if (signal.aborted) throw new Error('aborted');
      return 'answer';
    };
    const controller = new AbortController();
    let items = 0;
    const loop = (async () => {
      for await (const _ of mapConcurrently(endless(), work, { concurrency: 4, errors: 'yield', signal: controller.signal })) {
        items += 1;
        if (items === 3) controller.abort();
        // Time enough for the calls under way to fail, and to be there before the loop looks again.
        await turn();
        await turn();
        if (items === 100) return;
      }
    })();
    await expect(loop).rejects.toBeInstanceOf(AbortedError);
    expect(items).toBe(3);
  });

  it.each(['an abort', 'a failure'])('does not wait after %s for an input that never comes', async (cause) => {
    async function* stuck() {
      yield 0;
      await new Promise(() => undefined);
    }
    const { work, underWay } = bench();
    const controller = new AbortController();
    const first = mapConcurrently(stuck(), work, { signal: controller.signal }).next();
    await turn();
    if (cause === 'an abort') controller.abort();
    else underWay.get(0)?.reject(new Error('refused'));
    await expect(first).rejects.toThrow(cause === 'an abort' ? 'aborted' : 'refused');
  });

  it('starts no call for an input that comes after the end of the loop', async () => {
    let release = (): void => undefined;
    let isEnded = false;
    async function* slow() {
      try {
        yield 0;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        yield 1;
      } finally {
        isEnded = true;
      }
    }
    const { work, finish, underWay } = bench();
    const items = mapConcurrently(slow(), work, {});
    const first = items.next();
    await turn();
    finish(0);
    await first;
    await items.return();
    release();
    await turn();
    expect(underWay.size).toBe(0);
    expect(isEnded).toBe(true);
  });

  it('keeps nothing of the items it has given', async () => {
    function* inputs() {
      for (let input = 0; input < 20_000; input += 1) yield input;
    }
    const before = heapAfterCollection();
    let after = 0;
    for await (const { index } of mapConcurrently(inputs(), () => turn(), { concurrency: 1 })) {
      if (index === 19_999) after = heapAfterCollection();
    }
    expect((after - before) / 20_000).toBeLessThan(100);
  });

  it('throws what the source throws', async () => {
    async function* broken() {
      yield 0;
      throw new Error('source is broken');
    }
    const { work } = bench();
    await expect(mapConcurrently(broken(), work, { concurrency: 2 }).next()).rejects.toThrow('source is broken');
  });

  it('ends immediately for no input and refuses a senseless limit', async () => {
    const { work } = bench();
    expect((await mapConcurrently([], work, {}).next()).done).toBe(true);
    await expect(mapConcurrently([1], work, { concurrency: 0 }).next()).rejects.toBeInstanceOf(ConfigurationError);
  });
});
