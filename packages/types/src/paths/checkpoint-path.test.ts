import { expect, it } from 'vitest';
import { ValidationError } from '../errors/validation-error.js';
import { parseCheckpointPath } from './tinker-path.js';

it.each([
  ['tinker://run/weights/a', { trainingRunId: 'run', checkpointId: 'weights/a', checkpointType: 'training', name: 'a' }],
  ['tinker://run/sampler_weights/a', { trainingRunId: 'run', checkpointId: 'sampler_weights/a', checkpointType: 'sampler', name: 'a' }],
  ['tinker://model_1/a', { trainingRunId: 'model_1', checkpointId: 'a', checkpointType: undefined, name: 'a' }],
])('%s names a checkpoint', (path, expected) => {
  expect(parseCheckpointPath(path)).toMatchObject(expected);
});

it.each(['tinker://run', 'tinker://run/', 'tinker:///a', 'tinker://a/b/c/d', 'run/a', ''])('%j names none', (path) => {
  expect(() => parseCheckpointPath(path)).toThrow(ValidationError);
});
