import { createHash, timingSafeEqual } from 'node:crypto';
import { GatewayFailure } from '../failure.js';

/** Checks the key of a request, in a time that says nothing about the keys. Without keys, everybody is let in. */
export function keyCheck(keys: readonly string[] | undefined): (headers: Headers) => void {
  const digests = keys?.map(digest);
  return (headers) => {
    if (digests === undefined) return;
    const given = headers.get('x-api-key') ?? headers.get('authorization')?.replace(/^bearer\s+/i, '');
    if (given === undefined) {
      throw new GatewayFailure(
        'authentication',
        'This request has no API key. Send it as "Authorization: Bearer KEY" or "x-api-key: KEY".',
      );
    }
    const candidate = digest(given);
    // Every key is compared, so that the time does not depend on which one fits.
    const isKnown = digests.map((known) => timingSafeEqual(known, candidate)).includes(true);
    if (!isKnown) throw new GatewayFailure('authentication', 'The API key of this request is wrong.');
  };
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
