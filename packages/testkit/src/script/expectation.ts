import type { RouteName } from '../routes/route-types.js';

/** How many calls of a route a test expects by its end; checked by `server.verify()`. */
export class Expectation {
  readonly route: RouteName;
  #least = 1;
  #most = Number.POSITIVE_INFINITY;

  constructor(route: RouteName) {
    this.route = route;
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

  /** `count` calls or more. */
  atLeast(count: number): this {
    this.#least = count;
    return this;
  }

  /** `count` calls or fewer. */
  atMost(count: number): this {
    this.#least = 0;
    this.#most = count;
    return this;
  }

  /** @internal What `verify` has to say, given the number of calls there were. */
  complaint(actual: number): string | undefined {
    if (actual >= this.#least && actual <= this.#most) {
      return undefined;
    }
    const wanted =
      this.#least === this.#most
        ? `${this.#least}`
        : this.#most === Number.POSITIVE_INFINITY
          ? `at least ${this.#least}`
          : `at most ${this.#most}`;
    return `${this.route} was called ${actual} times, expected ${wanted}`;
  }
}
