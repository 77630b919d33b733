import { requireRoute } from '../routes/require-route.js';
import type { RouteName } from '../routes/route-types.js';

/** The number of calls that a test expects of a route; `server.verify()` checks it. */
export class Expectation {
  readonly route: RouteName;
  #least: number | undefined;
  #most: number | undefined;

  constructor(route: RouteName) {
    this.route = requireRoute(route);
  }

  /** Exactly `count` calls. */
  times(count: number): this {
    this.#least = count;
    this.#most = count;
    return this;
  }

  /** Exactly one call. */
  once(): this {
    return this.times(1);
  }

  /** No call at all. */
  never(): this {
    return this.times(0);
  }

  /** `count` calls or more; together with `atMost`, a range. */
  atLeast(count: number): this {
    this.#least = count;
    return this;
  }

  /** `count` calls or fewer; together with `atLeast`, a range. */
  atMost(count: number): this {
    this.#most = count;
    return this;
  }

  /** @internal The complaint for `verify` about this number of calls, if any. */
  complaint(actual: number): string | undefined {
    const most = this.#most ?? Number.POSITIVE_INFINITY;
    // An expectation without a number means at least one call.
    const least = this.#least ?? (this.#most === undefined ? 1 : 0);
    return actual >= least && actual <= most ? undefined : `${this.route} was called ${actual} times, expected ${rangeText(least, most)}`;
  }
}

function rangeText(least: number, most: number): string {
  if (least === most) return String(least);
  if (most === Number.POSITIVE_INFINITY) return `at least ${least}`;
  return least === 0 ? `at most ${most}` : `${least} to ${most}`;
}
