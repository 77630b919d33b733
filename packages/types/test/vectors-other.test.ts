import { describe, expect, it } from 'vitest';
import {
  ConnectionError,
  chunkLength,
  dmel,
  formatTinkerPath,
  isUserError,
  parseTinkerPath,
  type RequestErrorCategory,
  RequestFailedError,
  tokenizerIdFor,
  ValidationError,
} from '../src/index.js';
import { apiStatusError, tensorContainerShape } from '../src/wire.js';
import { fromHex, vectorCases } from './vectors.js';

interface ContainerExpected {
  readonly ok: boolean;
  readonly shape?: number[];
  readonly length?: number;
  readonly length_error?: boolean;
}

describe('tensor-container.json', () => {
  for (const { name, input, expected } of vectorCases<string, ContainerExpected>('tensor-container', 19)) {
    it(name, () => {
      const bytes = fromHex(input);
      if (!expected.ok) {
        expect(() => tensorContainerShape(bytes)).toThrow(ValidationError);
        return;
      }
      expect(tensorContainerShape(bytes)).toEqual(expected.shape);
      if (expected.length_error === true) expect(() => chunkLength(dmel(bytes))).toThrow(ValidationError);
      else expect(chunkLength(dmel(bytes))).toBe(expected.length);
    });
  }
});

interface PathExpected {
  readonly ok: boolean;
  readonly training_run_id?: string;
  readonly checkpoint_type?: string;
  readonly checkpoint_id?: string;
}

describe('tinker-paths.json', () => {
  for (const { name, input, expected } of vectorCases<string, PathExpected>('tinker-paths', 19)) {
    it(name, () => {
      if (!expected.ok) {
        expect(() => parseTinkerPath(input)).toThrow(ValidationError);
        return;
      }
      const path = parseTinkerPath(input);
      expect(path).toMatchObject({
        tinkerPath: input,
        trainingRunId: expected.training_run_id,
        checkpointType: expected.checkpoint_type,
        checkpointId: expected.checkpoint_id,
      });
      expect(formatTinkerPath(path)).toBe(input);
    });
  }
});

interface TokenizerExpected {
  readonly tokenizer_id: string;
  readonly revision?: string;
  readonly trust_remote_code?: boolean;
}

describe('tokenizer-id.json', () => {
  for (const { name, input, expected } of vectorCases<{ model_name: string; tokenizer_id: string | null }, TokenizerExpected>(
    'tokenizer-id',
    10,
  )) {
    it(name, () => {
      const { tokenizerId, revision, trustRemoteCode } = tokenizerIdFor(input.model_name, input.tokenizer_id ?? undefined);
      expect(tokenizerId).toBe(expected.tokenizer_id);
      expect(revision).toBe(expected.revision);
      expect(trustRemoteCode).toBe(expected.trust_remote_code);
    });
  }
});

interface UserErrorInput {
  readonly error: string;
  readonly status?: number;
  readonly category?: RequestErrorCategory;
}

function errorOf({ error, status = 0, category = 'unknown' }: UserErrorInput): Error {
  switch (error) {
    case 'status':
      return apiStatusError({ status });
    case 'generic error caused by a status error':
      return new Error('wrapped', { cause: apiStatusError({ status }) });
    case 'request_failed':
      return new RequestFailedError({ message: 'failed', category });
    case 'connection':
      return new ConnectionError({ message: 'refused' });
    default:
      return new Error('plain');
  }
}

describe('user-error.json', () => {
  for (const { name, input, expected } of vectorCases<UserErrorInput, boolean>('user-error', 31)) {
    it(name, () => expect(isUserError(errorOf(input))).toBe(expected));
  }
});
