export { VirtualClock, type VirtualClockOptions } from '@tinkex/http/testing';
export type { ScriptRequest } from './control/control-script.js';
export type { Dialect } from './dialects/dialect.js';
export { DIALECTS, type DialectName } from './dialects/presets.js';
export type { BaseModelOptions } from './engine/base-models.js';
export { type CannedEngineOptions, cannedEngine } from './engine/canned-engine.js';
export {
  type CheckpointFiles,
  DEFAULT_BASE_MODEL,
  type Engine,
  type EngineCounters,
  type EngineForwardInput,
  type EngineModel,
  type EngineModelInfo,
  type EngineSampleInput,
  type EngineSampler,
  type EngineState,
  EngineUserError,
  type ModelSpec,
} from './engine/engine.js';
export { type LearnEngineOptions, learnEngine } from './engine/learn-engine.js';
export { type Chaos, type ChaosOptions, DEFAULT_CHAOS_KINDS } from './faults/chaos.js';
export {
  CHAOS_KINDS,
  type ChaosKind,
  type ChaosStatus,
  FAULT_KINDS,
  type FaultKind,
  type FaultMoment,
  type FaultPlan,
} from './faults/faults.js';
export { serverProtobuf } from './proto/server-protobuf.js';
export type { RecordedCall } from './recorder/recorded-call.js';
export type { CallFilter } from './recorder/recorder.js';
export type { RecordedBody, RecordedExchange } from './replay/exchange.js';
export { openReplay, type ReplayOptions, startReplay } from './replay/open-replay.js';
export type { ReplayServer } from './replay/replay-server.js';
export type { QueryOf, RequestOf, ResponseOf, ResultOf, RouteName, RouteParams } from './routes/route-types.js';
export { type Notice, PROTOCOL_RULES, type RuleId, VerificationError, type Violation } from './rules/rules.js';
export type { Expectation } from './script/expectation.js';
export type { Gate, GatePlace } from './script/gate.js';
export type {
  Computed,
  ErrorBody,
  ErrorFields,
  Script,
  ScriptedCall,
  ScriptedFailure,
  SuccessBody,
  SuccessStatus,
} from './script/script.js';
export { createTestServer, startServer } from './server/create-server.js';
export { type MemoryServed, memoryTransport } from './server/memory-transport.js';
export type { OtherRequests } from './server/other-requests.js';
export type { ControlOptions, JwtOptions, ListenOptions, TestServerOptions } from './server/server-options.js';
export type { ServerScope } from './server/server-scope.js';
export type { TestServer } from './server/test-server.js';
export type { QueueStateNote } from './state/queue-pause.js';
export { DEFAULT_API_KEY } from './state/tenant-directory.js';
export { createTestTarget, type TargetKind, type TestTarget, type TestTargetOptions } from './target/test-target.js';
