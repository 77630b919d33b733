import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onAbort } from './on-abort.js';

describe('onAbort', () => {
  it('calls every follower once, through one listener', () => {
    const controller = new AbortController();
    const called: string[] = [];
    onAbort(controller.signal, () => called.push('a'));
    onAbort(controller.signal, () => called.push('b'))();
    onAbort(controller.signal, () => called.push('c'));
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort();
    expect(called).toEqual(['a', 'c']);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('leaves later followers alone when a registration is taken back twice', () => {
    const controller = new AbortController();
    const called: string[] = [];
    const unfollow = onAbort(controller.signal, () => called.push('early'));
    unfollow();
    onAbort(controller.signal, () => called.push('late'));
    unfollow();
    controller.abort();
    expect(called).toEqual(['late']);
  });
});
