const FIRST_CAPACITY = 64;

/** The values of one metric by step, in two columns of numbers. Bounded: beyond `maxPoints`, every second of the older points is dropped. */
export class Series {
  readonly #maxPoints: number;
  #steps = new Float64Array(FIRST_CAPACITY);
  #values = new Float64Array(FIRST_CAPACITY);
  #length = 0;

  constructor(maxPoints = 1_000_000) {
    this.#maxPoints = maxPoints;
  }

  get length(): number {
    return this.#length;
  }

  get steps(): Float64Array {
    return this.#steps.subarray(0, this.#length);
  }

  get values(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  get last(): number {
    return this.#values[this.#length - 1] ?? Number.NaN;
  }

  /**
   * Adds a point. Values that are not finite are left out: a chart has no place for them. A step that is not after the last one replaces the points from there
   * on, as a resumed run repeats them.
   */
  add(step: number, value: number): void {
    if (!Number.isFinite(value) || !Number.isFinite(step)) return;
    while (this.#length > 0 && (this.#steps[this.#length - 1] ?? 0) >= step) this.#length -= 1;
    if (this.#length >= this.#maxPoints) this.#thin();
    if (this.#length === this.#steps.length) this.#grow();
    this.#steps[this.#length] = step;
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  #grow(): void {
    const capacity = Math.min(this.#steps.length * 2, Math.max(this.#maxPoints, this.#steps.length + 1));
    const steps = new Float64Array(capacity);
    const values = new Float64Array(capacity);
    steps.set(this.#steps);
    values.set(this.#values);
    this.#steps = steps;
    this.#values = values;
  }

  #thin(): void {
    let kept = 0;
    for (let index = 0; index < this.#length; index += 2) {
      this.#steps[kept] = this.#steps[index] ?? 0;
      this.#values[kept] = this.#values[index] ?? 0;
      kept += 1;
    }
    this.#length = kept;
  }
}
