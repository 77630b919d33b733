import { describe, expect, it } from 'vitest';
import { cloudflareAccessHeaders } from './environment.js';

describe('cloudflareAccessHeaders', () => {
  it('takes what is set', () => {
    expect(cloudflareAccessHeaders({ CLOUDFLARE_ACCESS_CLIENT_ID: 'id', CLOUDFLARE_ACCESS_CLIENT_SECRET: 's' })).toEqual({
      'cf-access-client-id': 'id',
      'cf-access-client-secret': 's',
    });
    expect(cloudflareAccessHeaders({ CLOUDFLARE_ACCESS_CLIENT_ID: '' })).toEqual({});
  });
});
