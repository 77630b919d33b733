import { GatewayFailure } from '../failure.js';

/** Checks the key of a request, in a time that says nothing about the keys. Without keys, everybody is let in. Uses the cryptography of the web, so that it runs on the edge. */
export function keyCheck(keys: readonly string[] | undefined): (headers: Headers) => Promise<void> {
  if (keys === undefined) return () => Promise.resolve();
  let digests: Promise<Uint8Array[]> | undefined;
  return async (headers) => {
    const given = headers.get('x-api-key') ?? headers.get('authorization')?.replace(/^bearer\s+/i, '');
    if (given === undefined) {
      throw new GatewayFailure(
        'authentication',
        'This request has no API key. Send it as "Authorization: Bearer KEY" or "x-api-key: KEY".',
      );
    }
    // Not before the first request: some platforms allow no work while a module loads.
    digests ??= Promise.all(keys.map(digest));
    const candidate = await digest(given);
    // Every key is compared, so that the time does not depend on which one fits.
    const isKnown = (await digests).map((known) => areEqual(known, candidate)).includes(true);
    if (!isKnown) throw new GatewayFailure('authentication', 'The API key of this request is wrong.');
  };
}

async function digest(key: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
}

/** Compares every byte, wherever the first difference is. */
function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
}
