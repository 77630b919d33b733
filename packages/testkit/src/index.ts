export { VirtualClock, type VirtualClockOptions } from '@tinkex/http/testing';
export { type CannedEngineOptions, cannedEngine, DEFAULT_BASE_MODEL } from './canned/canned-engine.js';
export type { Dialect, WireFormat } from './dialects/dialect.js';
export { type DialectName, dialects } from './dialects/presets.js';
export {
  type CheckpointFiles,
  type Engine,
  type EngineForwardInput,
  type EngineModel,
  type EngineModelInfo,
  type EngineSampleInput,
  type EngineSampler,
  EngineUserError,
  type LearnEngineOptions,
  learnEngine,
  type ModelSpec,
} from './engine/index.js';
export type { Chaos, ChaosKind, ChaosOptions, ChaosStatus } from './faults/chaos.js';
export { defaultChaosKinds } from './faults/chaos.js';
export { type FaultKind, type FaultMoment, type FaultPlan, faultKinds } from './faults/fault.js';
export { serverProtobuf } from './proto/server-protobuf.js';
export type { RecordedCall } from './recorder/recorded-call.js';
export type { CallFilter } from './recorder/recorder.js';
export type { QueryOf, RequestOf, ResponseOf, ResultOf, RouteName, RouteParams } from './routes/route-types.js';
export { protocolRules, type RuleId, type Violation } from './rules/rules.js';
export { VerificationError } from './rules/verification-error.js';
export type { Expectation } from './script/expectation.js';
export type { Gate, GatePlace } from './script/gate.js';
export type { ErrorBody, ErrorFields, Script, ScriptedFailure, SuccessBody, SuccessStatus } from './script/script.js';
export type { Computed, ScriptedCall } from './script/scripted-call.js';
export { createTestServer, startServer } from './server/create-server.js';
export { memoryTransport } from './server/memory-transport.js';
export type { JwtOptions, ListenOptions, TestServerOptions } from './server/server-options.js';
export type { TestServer } from './server/test-server.js';
export type { QueueStateNote } from './state/queue-pause.js';
export { DEFAULT_API_KEY } from './state/tenant-directory.js';
export { createTestTarget, type TargetKind, type TestTarget, type TestTargetOptions } from './target/test-target.js';
