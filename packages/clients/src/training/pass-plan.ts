import { type Datum, ValidationError } from '@tinkex/types';
import { type ClientConfigResponse, chunkData } from '@tinkex/types/wire';
import { explainData } from './explain-invalid-data.js';

/** The data of one call, split as the server wants it. */
export interface PassPlan {
  readonly chunks: readonly { readonly data: readonly Datum[]; readonly estimatedBytes: number }[];
  readonly datums: number;
}

/**
 * Splits the data of one forward or forward/backward call.
 *
 * @throws `ValidationError` when there is no data, or something else: nothing is sent and no sequence number is used.
 */
export function planPass(data: readonly Datum[], config: ClientConfigResponse): PassPlan {
  if (data.length === 0) {
    throw new ValidationError({
      direction: 'request',
      subject: 'call',
      issues: [{ path: 'data', message: 'is empty; give at least one datum' }],
    });
  }
  try {
    const chunks = chunkData(data, { maxChunkLength: config.fwdbwdMaxChunkLen, maxChunkBytes: config.fwdbwdMaxChunkBytesCount });
    return { chunks, datums: data.length };
  } catch (error) {
    throw explainData(data, error);
  }
}
