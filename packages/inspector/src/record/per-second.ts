/** Admits a limited number of things per second, and counts the others. */
export class PerSecond {
  readonly #limit: number;
  #second = 0;
  #admitted = 0;
  #dropped = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many were not admitted. */
  get dropped(): number {
    return this.#dropped;
  }

  admits(atMs: number): boolean {
    const second = Math.floor(atMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#admitted = 0;
    }
    const isAdmitted = this.#admitted < this.#limit;
    if (isAdmitted) this.#admitted += 1;
    else this.#dropped += 1;
    return isAdmitted;
  }
}
