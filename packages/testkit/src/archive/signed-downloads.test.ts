import { describe, expect, it } from 'vitest';
import { byteRange } from './signed-downloads.js';

describe('byteRange', () => {
  it.for([
    ['bytes=0-9', { start: 0, end: 10 }],
    ['bytes=90-', { start: 90, end: 100 }],
    ['bytes=90-500', { start: 90, end: 100 }],
    ['bytes=-10', { start: 90, end: 100 }],
    ['bytes=-500', { start: 0, end: 100 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=9-3', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=-', undefined],
    ['bytes=0-1,5-6', undefined],
    ['lines=0-1', undefined],
    [undefined, undefined],
  ] as const)('%s of 100 bytes', ([header, expected]) => {
    expect(byteRange(header, 100)).toEqual(expected);
  });
});
