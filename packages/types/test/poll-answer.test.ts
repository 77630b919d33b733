import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFailure, readPollAnswer, readQueueReport } from '../src/wire.js';

describe('readPollAnswer', () => {
  it.each([
    [
      { type: 'try_again', queue_state: 'active' },
      { kind: 'pending', queue: { state: 'active' } },
    ],
    [
      { type: 'try_again', queue_state: 'paused_capacity', queue_state_reason: 'full' },
      { kind: 'pending', queue: { state: 'paused_capacity', reason: 'full' } },
    ],
    [{ type: 'try_again', queue_state: 'new_state' }, { kind: 'pending' }],
    [
      { type: 'try_again', queue_state: 'new_state', queue_state_reason: 'why' },
      { kind: 'pending', queue: { state: 'unknown', reason: 'why' } },
    ],
    [{ type: 'try_again', queue_state: 7, queue_state_reason: {} }, { kind: 'pending' }],
    [{ type: 'try_again' }, { kind: 'pending' }],
    [
      { status: 'complete_metadata', response_payload_size: 12 },
      { kind: 'metadata', sizeBytes: 12 },
    ],
    [
      { status: 'complete_metadata', response_payload_size: '12' },
      { kind: 'metadata', sizeBytes: 12 },
    ],
    [
      { status: 'complete_metadata', response_payload_size: -1 },
      { kind: 'metadata', sizeBytes: 0 },
    ],
    [
      { status: 'complete_metadata', response_payload_size: 'big' },
      { kind: 'metadata', sizeBytes: 0 },
    ],
    [{ status: 'complete_metadata' }, { kind: 'metadata', sizeBytes: 0 }],
    [
      { error: 'no', category: 'User' },
      { kind: 'failed', failure: { message: 'no', category: 'user' } },
    ],
    [
      { type: 'request_failed', error: 'no', category: 'RequestErrorCategory.SERVER_ERROR' },
      { kind: 'failed', failure: { message: 'no', category: 'server' } },
    ],
    [{ type: 'request_failed' }, { kind: 'failed', failure: { category: 'unknown' } }],
    [{ error: { message: 'nested' } }, { kind: 'failed', failure: { message: 'nested', category: 'unknown' } }],
    [{ error: null, metrics: {} }, { kind: 'result' }],
    [{ metrics: {} }, { kind: 'result' }],
    [[1], { kind: 'result' }],
    ['text', { kind: 'result' }],
  ])('reads %j', (body, expected) => {
    expect(readPollAnswer(body)).toEqual(expected);
  });

  it('gives a meaning to every value, and never throws', () => {
    fc.assert(fc.property(fc.anything(), (body) => void [readPollAnswer(body), readQueueReport(body), readFailure(body)]));
    const known = { type: 'try_again', status: 'complete_metadata' };
    fc.assert(
      fc.property(fc.constantFrom('type', 'status'), fc.dictionary(fc.string(), fc.anything()), (key, rest) => {
        expect(readPollAnswer({ ...rest, [key]: known[key as keyof typeof known] }).kind).not.toBe('failed');
      }),
    );
  });
});

describe('readQueueReport', () => {
  it.each([
    [{ queue_state: 'active', queue_state_reason: '' }, { state: 'active' }],
    [{ queue_state: 'new_state' }, { state: 'unknown' }],
    [
      { queue_state: 'paused_rate_limit', queue_state_reason: 'slow' },
      { state: 'paused_rate_limit', reason: 'slow' },
    ],
    [{ queue_state: '', queue_state_reason: 'why' }, undefined],
    [{ detail: 'x' }, undefined],
    ['text', undefined],
  ])('reads %j', (body, expected) => {
    expect(readQueueReport(body)).toEqual(expected);
  });
});

describe('readFailure', () => {
  it.each([
    [{ detail: 'no such thing' }, { message: 'no such thing', category: 'unknown' }],
    [
      { error_message: 'broken', category: 'server' },
      { message: 'broken', category: 'server' },
    ],
    ['a page', { category: 'unknown' }],
  ])('reads %j', (body, expected) => {
    expect(readFailure(body)).toEqual(expected);
  });
});
