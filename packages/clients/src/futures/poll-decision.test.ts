import { type ApiStatusError, ConnectionError, FutureExpiredError, RequestFailedError } from '@tinkex/types';
import { apiStatusError } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { answerOfResponse, decidePoll, FIRST_POLL, type PollAnswer, type PollDecision, type PollMemory } from './poll-decision.js';
import { decodeResult, RESULT_DECODERS } from './result-decoders.js';

interface VectorAnswer {
  status?: number;
  content_type?: string;
  body?: unknown;
  connection_error?: boolean;
}

interface Expected {
  requests: number;
  sleeps: number[];
  outcome: 'result' | 'error';
  error?: string;
  category?: string;
  queue_states?: [string, string | null][];
  allow_metadata_only?: boolean[];
  bytes_reserved?: number;
}

const encoder = new TextEncoder();

function answerOf({ status = 200, content_type, body, connection_error }: VectorAnswer): PollAnswer {
  if (connection_error) return { kind: 'fault', error: new ConnectionError({ message: 'reset' }) };
  const text = body === null || body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  // What the HTTP layer makes of an empty 400.
  if (status === 400 && text === '') return { kind: 'fault', error: new ConnectionError({ message: 'an empty 400' }) };
  const bytes = encoder.encode(text);
  const headers = { 'content-length': String(bytes.byteLength), ...(content_type === undefined ? {} : { 'content-type': content_type }) };
  return answerOfResponse({ status, headers, bytes });
}

/** Runs the pure rule over the answers and writes down what a loop would do. */
function walk(answers: readonly VectorAnswer[]) {
  let memory: PollMemory = FIRST_POLL;
  const log = { requests: 0, sleeps: [] as number[], queueStates: [] as [string, string | null][], allowed: [] as boolean[], bytes: 0 };
  for (const answer of answers) {
    log.requests += 1;
    log.allowed.push(memory.allowMetadataOnly);
    const decision: PollDecision = decidePoll(memory, answerOf(answer), 'r', 'OptimStep');
    switch (decision.action) {
      case 'resolve':
        try {
          return { ...log, outcome: 'result' as const, value: decodeResult(RESULT_DECODERS.OptimStep, decision, 'OptimStep') };
        } catch (error) {
          return { ...log, outcome: 'error' as const, error };
        }
      case 'reject':
        return { ...log, outcome: 'error' as const, error: decision.error };
      case 'fetch':
        log.bytes += decision.sizeBytes;
        break;
      case 'bill':
        log.sleeps.push(5);
        break;
      case 'repoll':
        if (decision.wait.from !== 'pace') log.sleeps.push(decision.wait.delayMs / 1000);
        if (decision.queue !== undefined) log.queueStates.push([decision.queue.state, decision.queue.reason ?? null]);
    }
    memory = decision.memory;
  }
  throw new Error('the answers ran out');
}

/**
 * The one case where we follow what other servers send instead of the reference: a category in another letter case is the
 * category, and not `unknown`.
 */
const CATEGORY_IN_ANY_CASE = 'failed-with-wrong-case-category';

describe('future-poll vectors, decisions', () => {
  it.each(readVectors<{ responses: VectorAnswer[] }, Expected>('future-poll'))('$name', ({ name, input, expected }) => {
    const done = walk(input.responses);
    expect(done.requests).toBe(expected.requests);
    // What the reference does "immediately" we do at the floor's pace, which is not a sleep of the rule: see poller.test.ts.
    expect(done.sleeps).toEqual(expected.sleeps);
    expect(done.outcome).toBe(expected.outcome);
    if (expected.queue_states) expect(done.queueStates).toEqual(expected.queue_states);
    if (expected.allow_metadata_only) expect(done.allowed).toEqual(expected.allow_metadata_only);
    if (expected.bytes_reserved !== undefined) expect(done.bytes).toBe(expected.bytes_reserved);
    if (done.outcome === 'result') return;
    if (expected.error === 'RetryableException') expect(done.error).toBeInstanceOf(FutureExpiredError);
    if (expected.error === 'RequestFailedError') {
      expect(done.error).toBeInstanceOf(RequestFailedError);
      expect((done.error as RequestFailedError).category).toBe(name === CATEGORY_IN_ANY_CASE ? 'user' : expected.category);
    }
  });
});

const refused = (status: number, body: unknown): PollAnswer => ({
  kind: 'refusal',
  error: apiStatusError({ status, headers: {}, body }),
});

describe('failure shapes of other servers', () => {
  const success = (body: unknown): PollAnswer => answerOf({ status: 200, content_type: 'application/json', body });

  it.each([
    [{ error: 'bad prompt', category: 'user' }, 'user'],
    [{ type: 'request_failed', error: 'bad prompt', category: 'user_error' }, 'user'],
    [{ type: 'request_failed', error: 'bad prompt', category: 'SERVER_ERROR' }, 'server'],
    [{ error: 'bad prompt', category: 'Server' }, 'server'],
    [{ error: 'bad prompt', category: 'whatever' }, 'unknown'],
    [{ error: { message: 'bad prompt' } }, 'unknown'],
  ])('200 %j is a failure of category %s', (body, category) => {
    const decision = decidePoll(FIRST_POLL, success(body), 'req-1', 'Sample');
    expect(decision).toMatchObject({ action: 'reject', error: { category, requestId: 'req-1' } });
    expect((decision as { error: Error }).error.message).toContain('bad prompt');
  });

  it.each([404, 409, 422])('%i {"detail"} is a failed operation with the status as its cause, and not polled again', (status) => {
    const decision = decidePoll(FIRST_POLL, refused(status, { detail: 'no such thing' }), 'req-1', 'OptimStep');
    expect(decision.action).toBe('reject');
    const { error } = decision as unknown as { error: RequestFailedError };
    expect(error).toBeInstanceOf(RequestFailedError);
    expect(error.message).toContain('no such thing');
    expect((error.cause as ApiStatusError).status).toBe(status);
  });

  it('a status that blames the request has the category user, unless the server says otherwise', () => {
    const failed = (body: object) =>
      decidePoll(FIRST_POLL, refused(422, body), 'r', 'OptimStep') as unknown as { error: RequestFailedError };
    expect(failed({ detail: 'bad' }).error.category).toBe('user');
    expect(failed({ error: 'bad', category: 'server' }).error.category).toBe('server');
  });

  it('a gap that a strict server refuses is explained: the client cannot continue, and how to resume', () => {
    const detail = 'Failed to retrieve future: Sequence conflict: expected 11, got 14.';
    const decision = decidePoll(FIRST_POLL, refused(409, { detail }), 'r', 'OptimStep') as unknown as { error: Error };
    expect(decision.error.message).toContain('this training client cannot continue');
    expect(decision.error.message).toContain('createTrainingClientFromStateWithOptimizer');
  });

  it('400 {"error_message"} is forgiven three times and then a failed operation', () => {
    let memory = FIRST_POLL;
    for (let time = 0; time < 3; time += 1) {
      const decision = decidePoll(memory, refused(400, { error_message: 'broken' }), 'r', 'OptimStep');
      expect(decision.action).toBe('repoll');
      memory = (decision as { memory: PollMemory }).memory;
    }
    expect(decidePoll(memory, refused(400, { error_message: 'broken' }), 'r', 'OptimStep')).toMatchObject({
      action: 'reject',
      error: { name: 'RequestFailedError' },
    });
  });

  it.each([401, 403, 413, 302])('%i is thrown as the status it is', (status) => {
    const decision = decidePoll(FIRST_POLL, refused(status, { detail: 'x' }), 'r', 'OptimStep');
    expect((decision as { error: ApiStatusError }).error.status).toBe(status);
  });

  it('a null error in a result is not a failure', () => {
    expect(decidePoll(FIRST_POLL, success({ metrics: {}, error: null }), 'r', 'OptimStep').action).toBe('resolve');
  });

  it('metadata without a size reserves nothing', () => {
    expect(decidePoll(FIRST_POLL, success({ status: 'complete_metadata', response_payload_size: null }), 'r', 'Sample')).toMatchObject({
      action: 'fetch',
      sizeBytes: 0,
    });
  });
});
