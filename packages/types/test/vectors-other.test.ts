import { describe, expect, it } from 'vitest';
import {
  ConnectionError,
  chunkLength,
  consoleUrls,
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
  for (const { name, input, expected } of vectorCases<string, PathExpected>('tinker-paths', 22)) {
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

type ConsoleInput = Readonly<Record<string, string>> & { readonly kind: string };

const consoleUrlOf: Readonly<Record<string, (input: Readonly<Record<string, string>>) => string>> = {
  sessions: () => consoleUrls.sessions(),
  session: ({ session_id = '' }) => consoleUrls.session(session_id),
  training_run: ({ training_run_id = '' }) => consoleUrls.trainingRun(training_run_id),
  checkpoint: ({ training_run_id = '', checkpoint_id = '' }) => consoleUrls.checkpoint(training_run_id, checkpoint_id),
  playground: ({ tinker_path = '' }) => consoleUrls.playground(tinker_path),
  new_api_key: ({ key_name = '' }) => consoleUrls.newApiKey(key_name),
  api_key: ({ key_id = '' }) => consoleUrls.apiKey(key_id),
};

describe('console-urls.json', () => {
  for (const { name, input, expected } of vectorCases<ConsoleInput, string>('console-urls', 7)) {
    it(name, () => {
      expect(consoleUrlOf[input.kind]?.(input)).toBe(expected);
    });
  }

  it('escapes what encodeURIComponent does not', () => {
    expect(consoleUrls.apiKey("a!'()*~")).toMatch(/\/keys\/a%21%27%28%29%2A~$/);
  });
});

interface TokenizerExpected {
  readonly tokenizer_id: string;
  readonly revision?: string;
  readonly trust_remote_code?: boolean;
}

describe('tokenizer-id.json', () => {
  for (const { name, input, expected } of vectorCases<{ model_name: string; tokenizer_id: string | null }, TokenizerExpected>(
    'tokenizer-id',
    11,
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
