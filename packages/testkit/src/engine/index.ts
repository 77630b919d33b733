export {
  type CheckpointFiles,
  type Engine,
  type EngineForwardInput,
  type EngineModel,
  type EngineModelInfo,
  type EngineSampleInput,
  type EngineSampler,
  EngineUserError,
  type ModelSpec,
} from './engine.js';
export { type LearnEngineOptions, learnEngine } from './learn-engine.js';
