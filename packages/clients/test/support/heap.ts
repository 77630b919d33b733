import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes in use on the heap once everything that can be collected has been. */
export function heapAfterCollection(): number {
  collect();
  return getHeapStatistics().used_heap_size;
}
