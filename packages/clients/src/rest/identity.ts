import { ConfigurationError, type WhoamiResponse } from '@tinkex/types';

/** Issuers of keys that name their user. */
const USER_KEY_ISSUER_PREFIX = 'passport-';

/**
 * Who a credential belongs to, read from its claims without asking the server. Signatures are not checked: this is for display, the
 * server decides what the credential may do.
 *
 * @param isExchanged - Whether the credential is a token the server issued for the key; a plain key must be a user's own JWT.
 * @throws ConfigurationError when the credential names nobody.
 */
export function identityOf(credential: string, isExchanged: boolean): WhoamiResponse {
  const claims = jwtClaims(credential);
  const issuer = claims?.['iss'];
  const isUserKey = typeof issuer === 'string' && issuer.startsWith(USER_KEY_ISSUER_PREFIX);
  const subject = claims?.['sub'];
  if ((!isExchanged && !isUserKey) || typeof subject !== 'string' || subject === '') {
    throw new ConfigurationError({
      message:
        'This credential does not say who it belongs to: whoami needs a server that issues tokens, or an API key that is a JWT of a user.',
      option: 'apiKey',
      environmentVariable: 'TINKER_API_KEY',
    });
  }
  const email = claims?.['email'];
  return { userUrn: subject, ...(typeof email === 'string' && email !== '' ? { email } : {}) };
}

/** The claims of a JWT, or undefined when the text is none. */
function jwtClaims(token: string): Record<string, unknown> | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
