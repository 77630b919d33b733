export { costOf, type PriceTable, type Usage } from '@tinkex/telemetry/runs';
export type { SpendingLimits } from './budget/spending.js';
export type { CheckpointLifetimes } from './checkpoints/checkpointer.js';
export type { SavePolicy } from './checkpoints/save-policy.js';
export { type ColorizeOptions, colorizeDatum, colorizeTokens } from './data/colorize.js';
export { type ConversationDataset, conversationDataset, type DataReport, type RenderOptions } from './data/conversation-dataset.js';
export type { ConversationFormat } from './data/conversation-records.js';
export { type ConversationSource, type ConversationSplit, conversationsFrom, type SplitOptions } from './data/conversation-source.js';
export { type ConversationStream, type ConversationStreamOptions, conversationStream } from './data/conversation-stream.js';
export { type ConversationFileOptions, conversationsFromJsonl } from './data/conversations-from-jsonl.js';
export { conversationsFromParquet } from './data/conversations-from-parquet.js';
export { messageText } from './data/message-text.js';
export { numpyPermutation } from './data/numpy-random.js';
export {
  type BatchDataset,
  type BatchOptions,
  type RowDatasetOptions,
  rowDataset,
  type SupervisedDataset,
} from './data/supervised-dataset.js';
export {
  type DistillationDataset,
  distillOnPolicy,
  type OnPolicyDistillationConfig,
} from './distillation/distill-on-policy.js';
export {
  type Demonstration,
  demonstrationPrompt,
  distillSelf,
  type SelfDistillationConfig,
  type SelfDistillationMode,
} from './distillation/distill-self.js';
export { mixDatasets, mixtureCounts } from './distillation/mixture.js';
export { promptGroup } from './distillation/prompts.js';
export { softTargetDataset, type Teacher } from './distillation/soft-targets.js';
export { evaluate } from './evaluation/evaluate.js';
export type { EvaluationContext, EvaluationMetrics, Evaluator, SamplingEvaluator, TrainingEvaluator } from './evaluation/evaluator.js';
export { type GenerationEvaluatorOptions, type GradedExample, type Grader, generationEvaluator } from './evaluation/generation.js';
export { exactMatch, type JudgedAnswer, judgeRequest, type LlmJudgeOptions, llmJudge, mathAnswer } from './evaluation/graders.js';
export { bitsPerByte, type DecodingTokenizer, meanNll, type ScoredTargets, scoreTargets } from './evaluation/loss-metrics.js';
export { extractBoxed, isMathAnswerCorrect, normalizeAnswer } from './evaluation/math-answers.js';
export { type NllEvaluatorOptions, nllEvaluator } from './evaluation/nll.js';
export { meanPassAtK, passAtK, passAtKValues } from './evaluation/pass-at-k.js';
export { type LrSchedule, lrMultiplier } from './loop/lr-schedule.js';
export type { StopReason } from './loop/plan.js';
export type { TrainingRun } from './loop/run-training.js';
export type { TrainOptions } from './loop/train-options.js';
export {
  type Comparison,
  comparisonMessages,
  comparisonsFromJsonl,
  type LabeledComparison,
  type PreferenceLabel,
  preferenceDatum,
  swapComparison,
} from './preference/comparison.js';
export { dpoLoss, type SummedLogprobs } from './preference/dpo-loss.js';
export { type MatchupPattern, type MatchupReward, matchupRewards, winRate } from './preference/matchups.js';
export { type DpoConfig, type PreferencePair, trainDpo } from './preference/train-dpo.js';
export { computeAdvantages, removeConstantGroups } from './rl/advantages.js';
export { assembleData, type DatumOrigin, type RlDatum, trajectoryToData } from './rl/assembly.js';
export type { KlReference, RlConfig } from './rl/config.js';
export type {
  Action,
  Env,
  EnvContext,
  EnvGroup,
  EnvLogs,
  EnvMetrics,
  EnvStep,
  GroupReward,
  InitialOverflow,
  Observation,
} from './rl/environments/env.js';
export {
  type ArgumentsSchema,
  type EnvTool,
  type EnvToolOptions,
  envTool,
  type ToolAnswer,
  type ToolResult,
} from './rl/environments/env-tool.js';
export {
  type MessageEnv,
  type MessageEnvGroupOptions,
  type MessageEnvOptions,
  type MessageStep,
  messageEnv,
  messageEnvGroup,
} from './rl/environments/message-env.js';
export type { ParseErrorPolicy } from './rl/environments/parse-error-policy.js';
export { type ProblemOptions, problem, problemEnv } from './rl/environments/problem.js';
export { type EpisodeGrade, type ToolEnvOptions, type ToolExecution, toolEnv, toolEnvGroup } from './rl/environments/tool-env.js';
export { type InterleaveOptions, interleaveTasks, type TaskSource } from './rl/interleave-tasks.js';
export { applyKlPenalty, type KlPenalty, klPrePost, klSampleTrain } from './rl/kl.js';
export { type RolloutEvaluatorOptions, rolloutEvaluator } from './rl/rollout-evaluator.js';
export type { RolloutLimits } from './rl/rollouts/limits.js';
export { type Policy, type PolicyOptions, type SamplingPolicyOptions, samplingPolicy } from './rl/rollouts/policy.js';
export { type RolloutPreset, rolloutPreset } from './rl/rollouts/presets.js';
export { type RolloutOptions, runRollout } from './rl/rollouts/run-rollout.js';
export type { RolloutStopReason } from './rl/rollouts/stop-reason.js';
export type { RolloutStrategy } from './rl/rollouts/strategy.js';
export type { TerminationPolicy } from './rl/rollouts/termination.js';
export type { Trajectory, TrajectoryGroup, Transition } from './rl/rollouts/trajectory.js';
export { trainRl } from './rl/train-rl.js';
export { type CapturedTurn, type CaptureOptions, trajectoriesFromCapture } from './rl/trajectories-from-capture.js';
export { trajectoryMetrics } from './rl/trajectory-metrics.js';
export type { SupervisedConfig, SupervisedData } from './supervised/config.js';
export { type SupervisedRun, trainSupervised } from './supervised/train-supervised.js';
export type { AdapterSourceOptions, CheckpointDownloads } from './weights/adapter-source.js';
export { type BaseLayout, readBaseLayout } from './weights/base-layout.js';
export { type ExportedAdapter, type ExportPeftOptions, exportPeft } from './weights/export-peft.js';
export { type HubOptions, hubBaseLayout } from './weights/hub-layout.js';
export { type MergeAdapterOptions, type MergedModel, mergeAdapter } from './weights/merge-adapter.js';
export { type PublishedModel, type PublishOptions, publish } from './weights/publish.js';
export type { TensorInfo } from './weights/safetensors/dtype.js';
export {
  openSafetensors,
  type SafetensorsHeader,
  type SafetensorsReader,
  type StoredTensor,
} from './weights/safetensors/safetensors-reader.js';
export { type TensorToWrite, type WriteSafetensorsOptions, writeSafetensors } from './weights/safetensors/safetensors-writer.js';
