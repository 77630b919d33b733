import { findNodeModule } from '@tinkex/http/runtime';

/** Node takes more than ten listeners of a signal for a leak; this lifts the limit. Other runtimes have none. */
export function allowManyListeners(signal: AbortSignal): void {
  findNodeModule('node:events')?.setMaxListeners(0, signal);
}
