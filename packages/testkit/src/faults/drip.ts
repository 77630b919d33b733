import type { Clock } from '@tinkex/http';
import { pause } from '../clock/machine-clock.js';
import type { FaultPlan } from './fault.js';

/** A body in small pieces with pauses between them, for fronts without a socket. */
export async function* dripped(body: Uint8Array, { dripBytes = 16, dripMs = 5 }: FaultPlan, clock: Clock): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < body.length; offset += dripBytes) {
    if (offset > 0) await pause(clock, dripMs);
    yield body.subarray(offset, offset + dripBytes);
  }
}
