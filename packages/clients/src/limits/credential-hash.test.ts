import { describe, expect, it } from 'vitest';
import { credentialHash, saltedHash } from './credential-hash.js';

describe.each([
  ['with SHA-256', credentialHash],
  ['without it', saltedHash],
])('the hash of a credential %s', (_, hash) => {
  it('is the same for the same credential, and another for any other', () => {
    const keys = Array.from({ length: 2_000 }, (_none, index) => `tml-${index}`);
    expect(new Set(keys.map(hash)).size).toBe(keys.length);
    expect(keys.map(hash)).toEqual(keys.map(hash));
  });

  it('has a fixed form and nothing of the credential', () => {
    expect(hash('tml-secret')).toMatch(/^[0-9a-f]{32}$/);
    expect(hash('')).toMatch(/^[0-9a-f]{32}$/);
  });
});
