import { randomUUID } from 'node:crypto';

/** Names one call, over all its attempts, to the server. GET and HEAD change nothing and carry none. */
export function newIdempotencyKey(): string {
  return `tinkex-retry-${randomUUID()}`;
}

export function needsIdempotencyKey(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}
