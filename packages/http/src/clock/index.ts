export { type Clock, systemClock } from './clock.js';
export { betweenMs, elapsedMs, type MonotonicTime, monotonicTime, NEVER, remainingMs, timeAfter } from './monotonic-time.js';
