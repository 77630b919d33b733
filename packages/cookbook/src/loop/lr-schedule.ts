import { ConfigurationError } from '@tinkex/types';

/** How the learning rate falls from the first step to the last. */
export type LrSchedule = 'linear' | 'cosine' | 'constant';

const MULTIPLIERS: Readonly<Record<LrSchedule, (progress: number) => number>> = {
  linear: (progress) => 1 - progress,
  cosine: (progress) => (1 + Math.cos(Math.PI * progress)) / 2,
  constant: () => 1,
};

/**
 * What the learning rate of a step is multiplied by. During `warmupSteps` it rises in equal steps to 1; the schedule covers the steps after. It is not
 * limited beyond the last step.
 *
 * @throws ConfigurationError for an unknown schedule or a run without steps.
 */
export function lrMultiplier(schedule: LrSchedule, step: number, totalSteps: number, warmupSteps = 0): number {
  if (!Object.hasOwn(MULTIPLIERS, schedule)) {
    const message = `lrSchedule must be one of ${Object.keys(MULTIPLIERS).join(', ')}; got ${String(schedule)}.`;
    throw new ConfigurationError({ option: 'lrSchedule', message });
  }
  if (!(totalSteps > 0)) throw new ConfigurationError({ option: 'data', message: 'The run has no steps: there is no complete batch.' });
  if (step < warmupSteps) return (step + 1) / (warmupSteps + 1);
  return MULTIPLIERS[schedule]((step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
}
