import type { ParseErrorPolicy } from '../environments/parse-error-policy.js';
import type { ToolExecution } from '../environments/tool-env.js';
import type { RolloutLimits } from './limits.js';
import type { RolloutStrategy } from './strategy.js';
import { LIMIT_STOP_REASONS, type TerminationPolicy } from './termination.js';

/** How episodes of a model are played unless you say otherwise. */
export interface RolloutPreset {
  readonly limits: RolloutLimits;
  readonly parseErrors?: ParseErrorPolicy | undefined;
  readonly termination?: TerminationPolicy | undefined;
  readonly toolExecution: ToolExecution;
  readonly strategy: RolloutStrategy;
  /** Whether a grader sees the prompt, or only what followed it. */
  readonly passAllMessagesToGrader: boolean;
}

const SIMPLE: RolloutPreset = { limits: {}, toolExecution: 'parallel', strategy: 'fail-fast', passAllMessagesToGrader: true };

const AGENTIC: RolloutPreset = {
  limits: { maxTurns: 10, maxTrajectoryTokens: 65_536, maxToolCalls: 30 },
  parseErrors: { maxConsecutive: 2, penaltyPerError: 0, terminalReward: 0, maskErrorTurns: false },
  termination: { zeroRewardOnLimit: true, limitStopReasons: LIMIT_STOP_REASONS, skipGradingOnTimeout: true, graderTimeoutSeconds: 900 },
  toolExecution: 'sequential',
  strategy: { type: 'min-viable' },
  passAllMessagesToGrader: false,
};

/** The reference's preset for a model: `agentic` for Inkling models, otherwise no limits. */
export function rolloutPreset(model: string): RolloutPreset {
  return model.startsWith('thinkingmachines/Inkling') ? AGENTIC : SIMPLE;
}
