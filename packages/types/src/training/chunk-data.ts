import { invalidRequest } from '../errors/validation-error.js';
import { estimateDatumBytes } from './byte-estimates.js';
import type { Datum } from './datum.js';

/** How large a chunk may be. */
export interface ChunkLimits {
  /** Data in a chunk. Default 1024. */
  readonly maxChunkLength?: number | undefined;
  /** Estimated bytes of a chunk. Default 5000000. A datum larger than that is a chunk by itself. */
  readonly maxChunkBytes?: number | undefined;
}

/** Data of one request. */
export interface DataChunk<T = Datum> {
  readonly data: readonly T[];
  readonly estimatedBytes: number;
}

/** Splits data, in order, into chunks within the limits, by {@link estimateDatumBytes}. No data give no chunks. */
export function chunkData(data: readonly Datum[], limits?: ChunkLimits): DataChunk[];
/**
 * Splits any list, in order, into chunks within the limits.
 *
 * @param estimate - How many bytes an item takes.
 */
export function chunkData<T>(data: readonly T[], limits: ChunkLimits, estimate: (datum: T) => number): DataChunk<T>[];
export function chunkData<T>(
  data: readonly T[],
  { maxChunkLength = 1024, maxChunkBytes = 5_000_000 }: ChunkLimits = {},
  estimate: (datum: T) => number = estimateDatumBytes as unknown as (datum: T) => number,
): DataChunk<T>[] {
  if (!(maxChunkLength >= 1)) throw invalidRequest('ChunkLimits', 'maxChunkLength', `must be 1 or more, got ${maxChunkLength}`);
  const chunks: DataChunk<T>[] = [];
  let current: T[] = [];
  let bytes = 0;
  for (const datum of data) {
    const size = estimate(datum);
    if (current.length > 0 && (bytes + size > maxChunkBytes || current.length >= maxChunkLength)) {
      chunks.push({ data: current, estimatedBytes: bytes });
      current = [];
      bytes = 0;
    }
    current.push(datum);
    bytes += size;
  }
  if (current.length > 0) chunks.push({ data: current, estimatedBytes: bytes });
  return chunks;
}
