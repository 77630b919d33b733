import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The state of the process at one moment. */
export interface Measurement {
  /** Since the start of the load. */
  readonly seconds: number;
  /** After a full collection. */
  readonly heapMegabytes: number;
  /** TCP connections of this process. */
  readonly sockets: number;
  readonly timers: number;
  /** Everything that the event loop watches, the two above included. */
  readonly handles: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Measures now. Collects garbage first: what is left is what is held. */
export function measure(seconds: number): Measurement {
  collect();
  const resources = process.getActiveResourcesInfo();
  const count = (name: string): number => resources.filter((resource) => resource === name).length;
  return {
    seconds,
    heapMegabytes: process.memoryUsage().heapUsed / 1_048_576,
    sockets: count('TCPSocketWrap'),
    timers: count('Timeout'),
    handles: resources.length,
  };
}
