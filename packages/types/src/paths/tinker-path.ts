import { invalidRequest } from '../errors/validation-error.js';

/** `training`: weights and optimizer state. `sampler`: weights to sample from. */
export type CheckpointType = 'training' | 'sampler';

const SCHEME = 'tinker://';

const SEGMENT_OF_TYPE: Readonly<Record<CheckpointType, string>> = { training: 'weights', sampler: 'sampler_weights' };

/** The parts of a `tinker://` path. */
export interface TinkerPath {
  readonly tinkerPath: string;
  readonly trainingRunId: string;
  readonly checkpointType: CheckpointType;
  /** With its prefix: `weights/{name}` or `sampler_weights/{name}`. */
  readonly checkpointId: string;
  readonly name: string;
}

/**
 * Reads `tinker://{training run}/weights/{name}` or `tinker://{training run}/sampler_weights/{name}`. Empty runs and names are
 * accepted, as the reference does. Throws a `ValidationError` for anything else.
 */
export function parseTinkerPath(path: string): TinkerPath {
  if (!path.startsWith(SCHEME)) throw invalidPath(`must start with ${SCHEME}`);
  const parts = path.slice(SCHEME.length).split('/');
  const [trainingRunId, segment, name] = parts;
  if (parts.length !== 3 || trainingRunId === undefined || segment === undefined || name === undefined) {
    throw invalidPath('must be tinker://{training run}/weights/{name} or tinker://{training run}/sampler_weights/{name}');
  }
  const checkpointType = segment === 'weights' ? 'training' : segment === 'sampler_weights' ? 'sampler' : undefined;
  if (checkpointType === undefined) throw invalidPath('must have weights or sampler_weights as its middle part');
  return { tinkerPath: path, trainingRunId, checkpointType, checkpointId: `${segment}/${name}`, name };
}

/** Writes a path. `name` is the checkpoint's name without a prefix. Throws a `ValidationError` for parts with a slash. */
export function formatTinkerPath(parts: Pick<TinkerPath, 'trainingRunId' | 'checkpointType' | 'name'>): string {
  const segment = SEGMENT_OF_TYPE[parts.checkpointType];
  if (segment === undefined) throw invalidRequest('TinkerPath', 'checkpointType', "must be 'training' or 'sampler'");
  for (const key of ['trainingRunId', 'name'] as const) {
    if (parts[key].includes('/')) throw invalidRequest('TinkerPath', key, 'must not contain a slash');
  }
  return `${SCHEME}${parts.trainingRunId}/${segment}/${parts.name}`;
}

function invalidPath(message: string): Error {
  return invalidRequest('tinker:// path', '', message);
}
