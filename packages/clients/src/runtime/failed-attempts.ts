/** How the attempts of a call have failed so far. */
export interface FailedAttempts {
  readonly count: number;
  /** What the last one failed with. */
  readonly last: unknown;
  /** The last status, if the server answered. */
  readonly status: number | undefined;
}

const attempts = new WeakMap<AbortSignal, FailedAttempts>();
const outerSignals = new WeakMap<AbortSignal, AbortSignal>();

/** What failed under a call's signal: when a time limit ends the call, its error says what it has interrupted. */
export function failedAttempts(signal: AbortSignal | undefined): FailedAttempts | undefined {
  return signal && attempts.get(signal);
}

/** Notes a failed attempt for the call of this signal and for the calls that it is a step of. */
export function noteFailedAttempt(signal: AbortSignal | undefined, last: unknown, status: number | undefined): void {
  for (let each = signal; each !== undefined; each = outerSignals.get(each)) {
    attempts.set(each, { count: (attempts.get(each)?.count ?? 0) + 1, last, status });
  }
}

/** Declares the call of the `inner` signal a step of the call of the `outer` one. */
export function isStepOf(inner: AbortSignal, outer: AbortSignal): void {
  outerSignals.set(inner, outer);
}
