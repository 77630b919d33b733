import type { CommandContext } from '../commands/command-context.js';
import { ProgressBar } from './progress-bar.js';

/** Items of a list and how many there are in all, if the server says so. */
export interface FetchedList<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** A list of the server: awaited it is its first page, and it can be read page by page. */
interface PagedList<Item, Page> {
  pages(): AsyncIterable<Page>;
  readonly itemsOf: (page: Page) => readonly Item[];
  readonly totalOf: (page: Page) => number | undefined;
}

/** Reads pages until there are enough items, with a progress bar from the second page on. A limit of 0 is all. */
export async function fetchList<Item, Page>(
  context: CommandContext,
  list: PagedList<Item, Page>,
  limit: number,
): Promise<FetchedList<Item>> {
  const wanted = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  const items: Item[] = [];
  let total: number | undefined;
  const format = (value: number): string => value.toLocaleString('en-US');
  using bar = new ProgressBar(context.terminal, { isShown: context.format === 'table', format });
  for await (const page of list.pages()) {
    items.push(...list.itemsOf(page));
    total = list.totalOf(page) ?? total;
    if (items.length >= Math.min(wanted, total ?? wanted)) break;
    bar.update({ done: items.length, total: total === undefined ? undefined : Math.min(wanted, total) });
  }
  return { items: items.slice(0, wanted), total: Math.max(total ?? 0, items.length) };
}

/** `3 training runs`, with a note when the list goes beyond what is shown. */
export function listTitle({ items, total }: FetchedList<unknown>, noun: string): string {
  if (items.length === 0) return `No ${noun}s found`;
  const shown = `${items.length.toLocaleString('en-US')} ${noun}${items.length === 1 ? '' : 's'}`;
  const more = total - items.length;
  return more > 0 ? `${shown} (${more.toLocaleString('en-US')} more; --limit 0 shows all)` : shown;
}
