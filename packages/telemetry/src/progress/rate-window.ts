/** Amounts over the last few moments, for a rate that follows changes without jumping. Bounded. */
export class RateWindow {
  readonly #moments: { readonly atMs: number; readonly amount: number }[] = [];
  readonly #size: number;

  constructor(size = 32) {
    this.#size = size;
  }

  add(atMs: number, amount: number): void {
    this.#moments.push({ atMs, amount });
    if (this.#moments.length > this.#size) this.#moments.shift();
  }

  /** Amount per millisecond between the first and the last moment; `undefined` until there are two moments apart in time. */
  perMs(): number | undefined {
    const first = this.#moments[0];
    const last = this.#moments.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return undefined;
    // The first amount was made before the window began.
    let amount = -first.amount;
    for (const moment of this.#moments) amount += moment.amount;
    return amount / (last.atMs - first.atMs);
  }
}
