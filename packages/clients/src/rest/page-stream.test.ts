import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PageRange, PageStream } from './page-stream.js';

interface Page {
  readonly items: readonly string[];
  readonly total?: number;
  readonly limit?: number;
}

function list(all: readonly string[], options: { limit: number; offset?: number; cap?: number; withTotal?: boolean }) {
  const asked: PageRange[] = [];
  const stream = new PageStream<string, Page>({
    offset: options.offset ?? 0,
    limit: options.limit,
    items: (page) => page.items,
    total: (page) => page.total,
    pageSize: (page) => page.limit,
    fetch: async (range) => {
      asked.push(range);
      const limit = Math.min(range.limit, options.cap ?? Number.POSITIVE_INFINITY);
      return {
        items: all.slice(range.offset, range.offset + limit),
        ...(options.withTotal ? { total: all.length, limit } : {}),
      };
    },
  });
  return { asked, stream };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `item-${index}`);

describe('PageStream', () => {
  it('asks for nothing until it is used, and awaits to the first page only', async () => {
    const { asked, stream } = list(names(50), { limit: 20, withTotal: true });
    expect(asked).toEqual([]);
    const page = await stream;
    expect(page.items).toHaveLength(20);
    await stream;
    expect(asked).toEqual([{ limit: 20, offset: 0 }]);
  });

  it('iterates over all items for any size, limit, offset and server cap', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(60),
        fc.integer({ min: 1, max: 20 }),
        fc.nat(10),
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        async (count, limit, offset, cap, withTotal) => {
          // Without a cursor a server that lowers the limit cannot be distinguished from the end of the list.
          const { asked, stream } = list(names(count), { limit, offset, withTotal, ...(withTotal ? { cap } : {}) });
          expect(await stream.toArray()).toEqual(names(count).slice(offset));
          expect(asked.length).toBeLessThanOrEqual(count + 2);
        },
      ),
    );
  });

  it('stops asking when the loop is left', async () => {
    const { asked, stream } = list(names(100), { limit: 10, withTotal: true });
    for await (const item of stream) if (item === 'item-11') break;
    expect(asked).toHaveLength(2);
    expect(await stream.toArray(3)).toEqual(['item-0', 'item-1', 'item-2']);
    expect(await stream.toArray(0)).toEqual([]);
  });

  it.each([
    ['does not ask for ever when the server ignores the offset', ['a', 'b'], 2],
    ['takes a page larger than asked for as the whole list', ['a', 'b', 'c'], 1],
  ] as const)('%s', async (_, answer, expectedCalls) => {
    let calls = 0;
    const stream = new PageStream<string, readonly string[]>({
      offset: 0,
      limit: 2,
      items: (page) => page,
      fetch: async () => {
        calls += 1;
        return answer;
      },
    });
    expect(await stream.toArray()).toEqual(answer);
    expect(calls).toBe(expectedCalls);
  });

  it('gives a failure to the awaiting caller, and to the loop', async () => {
    const stream = new PageStream<string, readonly string[]>({
      offset: 0,
      limit: 1,
      items: (page) => page,
      fetch: async ({ offset }) => {
        if (offset > 0) throw new Error('second page is broken');
        return ['a'];
      },
    });
    await expect(stream.toArray()).rejects.toThrow('second page is broken');
    await expect(stream).resolves.toEqual(['a']);
  });
});
