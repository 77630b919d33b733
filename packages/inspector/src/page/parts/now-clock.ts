import { signal } from '@preact/signals';
import { clockOffsetMs } from '../app/store.js';

/** The server's time, once a second. */
export const nowMs = signal(Date.now());

setInterval(() => {
  nowMs.value = Date.now() + clockOffsetMs.value;
}, 1_000);
