import type { Clock } from '@tinkex/http';

/** One save, from its call to its end. */
export interface RecentSave {
  /** When the last earlier save under the same name was over, now if one is still under way; undefined if there is none to be taken for this one. */
  previousAtMs(): number | undefined;
  /** It is over, whatever became of it. */
  end(): void;
}

interface Entry {
  readonly name: string;
  endedAtMs: number | undefined;
}

/**
 * The saves of one model that a later save under the same name could be mistaken for. A name may be used again and again (`overwrite`), and the list
 * of checkpoints tells two saves apart by their time alone.
 */
export class RecentSaves {
  readonly #clock: Clock;
  readonly #keptMs: number;
  #entries: Entry[] = [];

  /** @param keptMs - How long after its end a save is remembered. */
  constructor(clock: Clock, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  begin(name: string): RecentSave {
    const now = this.#clock.now();
    this.#entries = this.#entries.filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > now - this.#keptMs);
    const earlier = this.#entries.filter((entry) => entry.name === name);
    const entry: Entry = { name, endedAtMs: undefined };
    this.#entries.push(entry);
    return {
      previousAtMs: () => (earlier.length === 0 ? undefined : Math.max(...earlier.map(({ endedAtMs }) => endedAtMs ?? this.#clock.now()))),
      end: () => {
        entry.endedAtMs = this.#clock.now();
      },
    };
  }
}
