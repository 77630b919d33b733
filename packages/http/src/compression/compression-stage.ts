import type { Call, Reply } from '../pipeline/call.js';
import type { Stage } from '../pipeline/stage.js';
import { compressZstd } from './zstd.js';

/** Compresses the body once, before the first attempt, for calls that ask for it. */
export const compressionStage: Stage<Call, Reply> = (call, next) => {
  if (call.compress === undefined || call.body === undefined) return next(call);
  return compressAndSend(call, next);
};

async function compressAndSend(call: Call, next: (call: Call) => Promise<Reply>): Promise<Reply> {
  const body = typeof call.body === 'string' ? new TextEncoder().encode(call.body) : call.body;
  const compressed = body === undefined ? undefined : await compressZstd(body);
  if (compressed !== undefined) {
    call.body = compressed;
    call.headers['content-encoding'] = 'zstd';
  }
  return next(call);
}
