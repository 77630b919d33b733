import { invalidRequest } from '../errors/validation-error.js';

/** `training`: weights and optimizer state. `sampler`: weights to sample from. `external`: files for other tools. */
export type CheckpointType = 'training' | 'sampler' | 'external';

const SCHEME = 'tinker://';

const SEGMENT_OF_TYPE: Readonly<Record<CheckpointType, string>> = {
  training: 'weights',
  sampler: 'sampler_weights',
  external: 'external_weights',
};
const TYPE_OF_SEGMENT = new Map(Object.entries(SEGMENT_OF_TYPE).map(([type, segment]) => [segment, type as CheckpointType]));

/** The parts of a `tinker://` path. */
export interface TinkerPath {
  readonly tinkerPath: string;
  readonly trainingRunId: string;
  readonly checkpointType: CheckpointType;
  /** With its prefix: `weights/{name}`, `sampler_weights/{name}` or `external_weights/{name}`. */
  readonly checkpointId: string;
  readonly name: string;
}

/**
 * Reads `tinker://{training run}/{kind}/{name}`, where the kind is `weights`, `sampler_weights` or `external_weights`. Empty runs and names are
 * accepted, as the reference does. Throws a `ValidationError` for anything else.
 */
export function parseTinkerPath(path: string): TinkerPath {
  if (!path.startsWith(SCHEME)) throw invalidPath(`must start with ${SCHEME}`);
  const parts = path.slice(SCHEME.length).split('/');
  const [trainingRunId, segment, name] = parts;
  if (parts.length !== 3 || trainingRunId === undefined || segment === undefined || name === undefined) {
    throw invalidPath('must be tinker://{training run}/{kind}/{name} with the kind weights, sampler_weights or external_weights');
  }
  const checkpointType = TYPE_OF_SEGMENT.get(segment);
  if (checkpointType === undefined) throw invalidPath('must have weights, sampler_weights or external_weights as its middle part');
  return { tinkerPath: path, trainingRunId, checkpointType, checkpointId: `${segment}/${name}`, name };
}

/** Which checkpoint a path names, in the terms of the REST endpoints. */
export interface CheckpointReference {
  readonly trainingRunId: string;
  /** `weights/{name}`, `sampler_weights/{name}` or `external_weights/{name}`; a bare `{name}` when the path has no kind. */
  readonly checkpointId: string;
  /** Undefined when the path has no kind. */
  readonly checkpointType: CheckpointType | undefined;
  readonly name: string;
}

/**
 * Reads any path of a checkpoint: like {@link parseTinkerPath}, and the form `tinker://{training run}/{name}` in which some servers name
 * sampler weights. Throws a `ValidationError` for anything else.
 */
export function parseCheckpointPath(path: string): CheckpointReference {
  const [, trainingRunId, name] = /^tinker:\/\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (trainingRunId === undefined || name === undefined) return parseTinkerPath(path);
  return { trainingRunId, checkpointId: name, checkpointType: undefined, name };
}

/** Writes a path. `name` is the checkpoint's name without a prefix. Throws a `ValidationError` for parts with a slash. */
export function formatTinkerPath(parts: Pick<TinkerPath, 'trainingRunId' | 'checkpointType' | 'name'>): string {
  const segment = SEGMENT_OF_TYPE[parts.checkpointType];
  if (segment === undefined) throw invalidRequest('TinkerPath', 'checkpointType', "must be 'training', 'sampler' or 'external'");
  for (const key of ['trainingRunId', 'name'] as const) {
    if (parts[key].includes('/')) throw invalidRequest('TinkerPath', key, 'must not contain a slash');
  }
  return `${SCHEME}${parts.trainingRunId}/${segment}/${parts.name}`;
}

function invalidPath(message: string): Error {
  return invalidRequest('tinker:// path', '', message);
}
