import type { Metrics } from '@tinkex/telemetry/runs';

const PREFIX = 'rollout_errors/';

/** Counts what went wrong in rollouts, over the whole run. */
export class RolloutErrors {
  readonly #byClass = new Map<string, number>();
  #total = 0;
  #groupsSkipped = 0;

  /** @param earlier - The metrics of the last step of an earlier process, whose counts continue. */
  constructor(earlier: Metrics = {}) {
    for (const [name, value] of Object.entries(earlier)) {
      if (!name.startsWith(PREFIX)) continue;
      const kind = name.slice(PREFIX.length);
      if (kind === 'total') this.#total = value;
      else if (kind === 'groups_skipped') this.#groupsSkipped = value;
      else this.#byClass.set(kind, value);
    }
  }

  /** Adds the failures of a group, and whether it was left out. */
  add(errors: readonly unknown[], { isSkipped = false }: { readonly isSkipped?: boolean | undefined } = {}): void {
    for (const error of errors) {
      const name = error instanceof Error ? error.name : typeof error;
      this.#byClass.set(name, (this.#byClass.get(name) ?? 0) + 1);
      this.#total++;
    }
    if (isSkipped) this.#groupsSkipped++;
  }

  /** `rollout_errors/<class>`, `/total` and `/groups_skipped`; nothing while nothing went wrong. */
  metrics(): Metrics {
    if (this.#total === 0 && this.#groupsSkipped === 0) return {};
    return {
      ...Object.fromEntries([...this.#byClass].map(([name, count]) => [`${PREFIX}${name}`, count])),
      [`${PREFIX}total`]: this.#total,
      [`${PREFIX}groups_skipped`]: this.#groupsSkipped,
    };
  }
}
