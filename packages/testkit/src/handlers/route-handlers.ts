import type { RouteHandler } from '../requests/request-context.js';
import type { RouteName } from '../routes/route-types.js';
import { auditLog, billingUsage, currentCheckpointStorageUsage, getOwnApiKey, revokeOwnApiKey } from './account.js';
import {
  checkpointArchive,
  deleteCheckpoint,
  externalWeightsUrls,
  listCheckpoints,
  listUserCheckpoints,
  publishCheckpoint,
  setCheckpointTtl,
  unpublishCheckpoint,
  weightsInfo,
} from './checkpoints.js';
import { copyWeights } from './copy-weights.js';
import { createCustomLoss } from './custom-losses.js';
import { saveWeightsExternal } from './external-weights.js';
import { retrieveFuture } from './futures.js';
import { loadWeights } from './load-weights.js';
import { createModel, getInfo, unloadModel } from './models.js';
import { getTrainingRun, listTrainingRuns } from './runs.js';
import { asample, createSamplingSession, getSampler } from './sampling.js';
import { saveWeights, saveWeightsForSampler } from './save-weights.js';
import { authToken, clientConfig, clientDynamicConfig, getServerCapabilities, healthz, telemetry } from './service.js';
import { cancelFuture, joinSamplingSession, retrieveFutures } from './session-futures.js';
import { searchSessions } from './session-search.js';
import {
  assignSessionProject,
  createSession,
  exportSessionTrace,
  finishSession,
  getSession,
  listSessions,
  sessionHeartbeat,
} from './sessions.js';
import { forward, forwardBackward, optimStep } from './training.js';

/** The handler of each endpoint. */
export const ROUTE_HANDLERS: { readonly [Name in RouteName]: RouteHandler<Name> } = {
  healthz,
  getServerCapabilities,
  clientConfig,
  clientDynamicConfig,
  authToken,
  createSession,
  sessionHeartbeat,
  createSamplingSession,
  joinSamplingSession,
  createModel,
  getInfo,
  unloadModel,
  forwardBackward,
  forward,
  createCustomLoss,
  optimStep,
  loadWeights,
  saveWeights,
  saveWeightsForSampler,
  saveWeightsExternal,
  copyWeights,
  asample,
  retrieveFuture,
  retrieveFutures,
  cancelFuture,
  telemetry,
  listTrainingRuns,
  getTrainingRun,
  listCheckpoints,
  deleteCheckpoint,
  checkpointArchive,
  externalWeightsUrls,
  publishCheckpoint,
  unpublishCheckpoint,
  setCheckpointTtl,
  listUserCheckpoints,
  weightsInfo,
  listSessions,
  getSession,
  finishSession,
  searchSessions,
  assignSessionProject,
  exportSessionTrace,
  getSampler,
  auditLog,
  billingUsage,
  currentCheckpointStorageUsage,
  getOwnApiKey,
  revokeOwnApiKey,
};
