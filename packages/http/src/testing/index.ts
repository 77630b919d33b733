export { VirtualClock, type VirtualClockOptions } from '../clock/virtual-clock.js';
