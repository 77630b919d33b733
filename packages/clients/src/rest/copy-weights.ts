import { randomUuid } from '@tinkex/http/runtime';
import { ConfigurationError, parseTinkerPath } from '@tinkex/types';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { CallOptions, CallStep } from '../runtime/call-options.js';

/** Options of `service.copyWeights`. */
export interface CopyWeightsOptions extends CallOptions {
  /** Seconds until the copy is deleted. Default: never; the expiry of the source is not inherited. */
  readonly ttlSeconds?: number | undefined;
  /** A credential of the account that owns the weights, if that is another one. */
  readonly weightsAccessToken?: string | undefined;
}

/** Options of `rest.copyWeights`. */
export interface CopyWeightsToProjectOptions extends CopyWeightsOptions {
  /** The project that gets the copy. Default: that of the client, or `TINKER_PROJECT_ID`. */
  readonly destinationProjectId?: string | undefined;
}

/** Where a copy of weights is. */
export interface CopiedWeights {
  /** A `tinker://` path. */
  readonly path: string;
}

/** @throws ValidationError for an invalid path, ConfigurationError when there is no project. */
export function checkCopy(tinkerPath: string, projectId: string | undefined): string {
  parseTinkerPath(tinkerPath);
  if (projectId) return projectId;
  throw new ConfigurationError({
    message: 'copyWeights needs a project. Pass destinationProjectId, set projectId of the client, or set TINKER_PROJECT_ID.',
    option: 'destinationProjectId',
  });
}

/** Copies weights into a project. All attempts carry one idempotency key: however often the answer is lost, there is one copy. */
export async function copyWeights(
  calls: EndpointCaller,
  tinkerPath: string,
  destinationProjectId: string,
  { ttlSeconds, weightsAccessToken }: CopyWeightsOptions,
  step: CallStep,
): Promise<CopiedWeights> {
  const headers: Record<string, string> = { 'x-idempotency-key': randomUuid(), ...step.headers };
  if (weightsAccessToken !== undefined) headers['x-tinker-weights-access-token'] = weightsAccessToken;
  const body = { sourcePath: tinkerPath, destinationProjectId, ttlSeconds };
  const { tinkerPath: path } = await calls.call('copyWeights', { body }, { ...step, headers });
  return { path };
}
