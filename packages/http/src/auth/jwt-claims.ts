import { ValidationError } from '@tinkex/types';

/**
 * The claims of a JSON Web Token. Its signature is not checked: the server does that.
 *
 * @throws ValidationError when the text is not such a token. The message does not show it.
 */
export function readJwtClaims(token: string): Record<string, unknown> {
  const payload = token.split('.')[1];
  if (payload === undefined) throw badToken('has no middle part');
  let claims: unknown;
  try {
    claims = JSON.parse(decodeBase64Url(payload));
  } catch {
    // The parser's own error quotes what it read, which is a part of the credential.
    throw badToken('has a middle part that is not base64url of JSON');
  }
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw badToken('carries no object of claims');
  return claims as Record<string, unknown>;
}

/**
 * When a token expires: the claim `exp`, a number or numeric text, in Unix seconds.
 *
 * @throws ValidationError when it cannot be read.
 */
export function jwtExpirySeconds(token: string): number {
  const { exp } = readJwtClaims(token);
  const seconds = typeof exp === 'string' && exp.trim() !== '' ? Number(exp) : exp;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) throw badToken('carries no readable expiry');
  return seconds;
}

function decodeBase64Url(text: string): string {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

function badToken(problem: string): ValidationError {
  const message = `The token ${problem}.`;
  return new ValidationError({ message, direction: 'response', issues: [{ path: '', message }] });
}
