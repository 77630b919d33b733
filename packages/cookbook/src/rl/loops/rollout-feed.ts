import type { EnvGroup } from '../environments/env.js';
import type { FailedGroup } from '../rollouts/run-group.js';
import type { TrajectoryGroup } from '../rollouts/trajectory.js';

/** What came of a group: its episodes, or its failures. */
export type GroupOutcome = TrajectoryGroup | FailedGroup;

/** What a feed plays. */
export interface RolloutFeedParts {
  /** All steps of the run. */
  readonly totalSteps: number;
  readonly maxStepsOffPolicy: number;
  readonly getBatch: (step: number) => Promise<readonly EnvGroup[]>;
  /** Plays a group with the weights that have taken `samplerStep` steps. */
  readonly play: (
    group: EnvGroup,
    place: { readonly step: number; readonly index: number; readonly samplerStep: number },
  ) => Promise<GroupOutcome>;
}

/**
 * Plays the batches of a run in order, each as early as the age of its samples allows: batch N begins when the weights have taken `N - maxStepsOffPolicy` steps. So
 * no sample is ever too old, none is thrown away, and the number of batches in play is bounded.
 */
export class RolloutFeed {
  readonly #parts: RolloutFeedParts;
  readonly #batches = new Map<number, Promise<readonly Promise<GroupOutcome>[]>>();
  #nextStep: number;

  constructor(parts: RolloutFeedParts, firstStep: number) {
    this.#parts = parts;
    this.#nextStep = firstStep;
  }

  /** Begins what may be played once the weights have taken these steps. */
  advance(samplerStep: number): void {
    const { totalSteps, maxStepsOffPolicy } = this.#parts;
    while (this.#nextStep < totalSteps && this.#nextStep <= samplerStep + maxStepsOffPolicy) {
      const step = this.#nextStep++;
      const batch = this.#start(step, samplerStep);
      this.#batches.set(step, batch);
      // `take` gives the failure to the driver; until then it is not an unhandled rejection.
      batch.catch(() => undefined);
    }
  }

  /** The groups of a batch, in order, each when it is finished. */
  async take(step: number): Promise<readonly Promise<GroupOutcome>[]> {
    const batch = this.#batches.get(step);
    this.#batches.delete(step);
    return batch ?? [];
  }

  /** Waits for all groups that are in play. End them first, with their signal. */
  async drain(): Promise<void> {
    for (const batch of await Promise.allSettled(this.#batches.values())) {
      if (batch.status === 'fulfilled') await Promise.allSettled(batch.value);
    }
  }

  async #start(step: number, samplerStep: number): Promise<readonly Promise<GroupOutcome>[]> {
    const { getBatch, play } = this.#parts;
    const groups = await getBatch(step);
    return groups.map((group, index) => {
      const outcome = play(group, { step, index, samplerStep });
      outcome.catch(() => undefined);
      return outcome;
    });
  }
}
