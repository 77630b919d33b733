import type { Reply } from '../pipeline/call.js';

const FULL_BUDGET = 16;

/**
 * The rule of the empty 400: an edge proxy that dislikes a connection answers 400 without a body. Such an answer says nothing
 * about the request, so it becomes a connection error, at most 16 times more often than there are successes in the same pool.
 */
export class EdgeRejections {
  readonly #budgets = new Map<string, number>();

  /** Gives one rejection back to the pool. */
  succeeded(pool: string): void {
    const budget = this.#budgets.get(pool);
    if (budget === undefined) return;
    if (budget + 1 >= FULL_BUDGET) this.#budgets.delete(pool);
    else this.#budgets.set(pool, budget + 1);
  }

  /** True when the reply is to be taken for a broken connection; takes one from the pool's budget then. */
  isRejection(pool: string, reply: Reply): boolean {
    if (!isEmptyBadRequest(reply)) return false;
    const budget = this.#budgets.get(pool) ?? FULL_BUDGET;
    if (budget <= 0) return false;
    this.#budgets.set(pool, budget - 1);
    return true;
  }
}

/** Without a length the body decides: an application's own JSON is a real answer even when it comes in chunks. */
function isEmptyBadRequest({ status, headers, bytes }: Reply): boolean {
  if (status !== 400) return false;
  const length = headers['content-length'];
  if (length !== undefined) return Number(length) === 0;
  return bytes.byteLength === 0 || !isJson(headers);
}

function isJson(headers: Readonly<Record<string, string>>): boolean {
  return (headers['content-type'] ?? '').includes('json');
}
