export type { Clock } from '../clock/clock.js';
export { VirtualClock, type VirtualClockOptions } from '../clock/virtual-clock.js';
