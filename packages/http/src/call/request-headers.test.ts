import { describe, expect, it } from 'vitest';
import { newIdempotencyKey, RequestHeaders } from './request-headers.js';

describe('newIdempotencyKey', () => {
  it('is a random UUID of version 4 with a prefix', () => {
    for (let count = 0; count < 1_000; count += 1) {
      expect(newIdempotencyKey()).toMatch(/^tinkex-retry-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('does not repeat, and uses every digit everywhere', () => {
    const keys = Array.from({ length: 5_000 }, newIdempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
    const body = [...'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'];
    for (const [index, kind] of body.entries()) {
      const digits = new Set(keys.map((key) => key['tinkex-retry-'.length + index])).size;
      expect(digits).toBe(kind === 'x' ? 16 : kind === 'y' ? 4 : 1);
    }
  });
});

describe('RequestHeaders', () => {
  it('puts an idempotency key on everything that may change something', () => {
    const headers = new RequestHeaders({ baseUrl: 'http://h' }, 1_000);
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const hasKey = methods.map((method) => 'x-idempotency-key' in headers.create({ method, path: '/x' }));
    expect(hasKey).toEqual([false, false, true, true, true, true]);
  });
});
