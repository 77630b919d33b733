import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onAbort } from './on-abort.js';

describe('onAbort', () => {
  it('calls everybody who still follows, once, over one listener', () => {
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

  it('a registration that is taken back twice leaves later ones alone', () => {
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
