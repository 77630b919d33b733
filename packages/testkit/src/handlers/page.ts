/** The part of a list that a query asks for, and where it stands in the whole. */
export interface Page<Item> {
  readonly items: Item[];
  readonly cursor: { readonly offset: number; readonly limit: number; readonly total_count: number };
}

/** Cuts a page out of a list. */
export function page<Item>(
  all: readonly Item[],
  query: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  defaultLimit: number,
): Page<Item> {
  const { limit = defaultLimit, offset = 0 } = query;
  return { items: all.slice(offset, offset + limit), cursor: { offset, limit, total_count: all.length } };
}
