import { type Clock, elapsedMs, type MonotonicTime } from '@tinkex/http';
import type { InspectedRun, RunSource } from '../runs/inspected-run.js';

const REFRESH_MS = 500;

/** All runs of all sources. Reads the disk at most twice a second, however many pages watch. */
export class RunRegistry {
  readonly #sources: readonly RunSource[];
  readonly #clock: Clock;
  #refreshedAt: MonotonicTime | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(sources: readonly RunSource[], clock: Clock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  runs(): readonly InspectedRun[] {
    return this.#sources.flatMap((source) => source.runs());
  }

  find(id: string): InspectedRun | undefined {
    return this.runs().find((run) => run.id === id);
  }

  /** Reads what is new, unless that was done a moment ago. */
  async refresh(): Promise<void> {
    if (this.#refreshing !== undefined) return this.#refreshing;
    if (this.#refreshedAt !== undefined && elapsedMs(this.#clock, this.#refreshedAt) < REFRESH_MS) return;
    this.#refreshedAt = this.#clock.monotonicMs();
    this.#refreshing = Promise.all(this.#sources.map((source) => source.refresh())).then(
      () => undefined,
      () => undefined,
    );
    await this.#refreshing;
    this.#refreshing = undefined;
  }
}
