/** One list endpoint whose pages are counted, as a {@link PageStream} reads it. */
export interface PageSource<Item, Page> {
  /** Fetches one page. Nothing is fetched before you await or iterate the stream. */
  fetch(range: PageRange): Promise<Page>;
  /** The items of a page, in order. */
  items(page: Page): readonly Item[];
  /** The total the server names, if it does. */
  total?(page: Page): number | undefined;
  /** The page size that the server used, if it says so; a server may lower the requested one. */
  pageSize?(page: Page): number | undefined;
  /** Where to start. Default 0. */
  readonly offset: number;
  /** How many items to request per page. */
  readonly limit: number;
}

/** The part of a list that one request covers. */
export interface PageRange {
  readonly limit: number;
  readonly offset: number;
}

/** One list endpoint whose pages name what follows them, as a {@link PageStream} reads it. */
export interface CursorSource<Item, Page, Position> {
  /** Where to start. */
  readonly first: Position;
  /** Fetches one page. Nothing is fetched before you await or iterate the stream. */
  fetch(position: Position): Promise<Page>;
  /** The items of a page, in order. */
  items(page: Page): readonly Item[];
  /** Where the next page starts; undefined after the last. `fetched` counts the items so far, those of this page included. */
  next(page: Page, fetched: number): Position | undefined;
}

/**
 * A list on the server. Await it for the first page as the server sent it, or iterate over it for all items across pages; `pages()`
 * iterates page by page. Lazy: a page is requested when it is needed, one at a time, and leaving the loop stops it.
 */
export class PageStream<Item, Page, Position = PageRange> implements PromiseLike<Page>, AsyncIterable<Item> {
  readonly #source: CursorSource<Item, Page, Position>;
  #first: Promise<Page> | undefined;

  constructor(source: PageSource<Item, Page>);
  constructor(source: CursorSource<Item, Page, Position>);
  constructor(source: PageSource<Item, Page> | CursorSource<Item, Page, Position>) {
    this.#source = 'first' in source ? source : (byOffset(source) as unknown as CursorSource<Item, Page, Position>);
  }

  /** Waits for the first page. The same page is given to every `await` of this object. */
  // biome-ignore lint/suspicious/noThenProperty: a PageStream is awaitable by design.
  then<Fulfilled = Page, Rejected = never>(
    onFulfilled?: ((page: Page) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#firstPage().then(onFulfilled, onRejected);
  }

  /** Every item, page after page. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* this.#source.items(page);
  }

  /** Every page, as the server sent it. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    const source = this.#source;
    let page = await this.#firstPage();
    let fetched = 0;
    let previousItems: readonly Item[] = [];
    for (;;) {
      const items = source.items(page);
      // A server that ignores `offset` or the cursor would otherwise send the same page forever.
      if (isSamePage(previousItems, items)) return;
      yield page;
      fetched += items.length;
      const next = source.next(page, fetched);
      if (items.length === 0 || next === undefined) return;
      previousItems = items;
      page = await source.fetch(next);
    }
  }

  /** All items in one array. `maxItems` stops early; default no limit. */
  async toArray(maxItems = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const all: Item[] = [];
    if (maxItems <= 0) return all;
    for await (const item of this) {
      all.push(item);
      if (all.length >= maxItems) break;
    }
    return all;
  }

  #firstPage(): Promise<Page> {
    this.#first ??= this.#source.fetch(this.#source.first);
    return this.#first;
  }
}

function byOffset<Item, Page>(source: PageSource<Item, Page>): CursorSource<Item, Page, PageRange> {
  const { limit, offset } = source;
  return {
    first: { limit, offset },
    fetch: (range) => source.fetch(range),
    items: (page) => source.items(page),
    next(page, fetched) {
      const total = source.total?.(page);
      const pageSize = source.pageSize?.(page) || limit;
      const isLast = total === undefined ? source.items(page).length !== pageSize : offset + fetched >= total;
      return isLast ? undefined : { limit, offset: offset + fetched };
    },
  };
}

function isSamePage(before: readonly unknown[], after: readonly unknown[]): boolean {
  if (before.length === 0 || before.length !== after.length) return false;
  return JSON.stringify(before[0]) === JSON.stringify(after[0]) && JSON.stringify(before.at(-1)) === JSON.stringify(after.at(-1));
}
