import { readJwtClaims } from '@tinkex/http';
import { ConfigurationError, ValidationError, type WhoamiResponse } from '@tinkex/types';

/** Issuers of keys that name their user. */
const USER_KEY_ISSUER_PREFIX = 'passport-';

/**
 * Who a credential belongs to, read from its claims without a request. Signatures are not checked: this is for display; the server decides
 * what the credential may do.
 *
 * @param isExchanged - Whether the credential is a token the server issued for the key; a plain key must be a user's own JWT.
 * @throws ConfigurationError when the credential does not name its owner.
 */
export function identityOf(credential: string, isExchanged: boolean): WhoamiResponse {
  const claims = claimsOf(credential);
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
  const organization = claims?.['org_id'];
  return {
    userUrn: subject,
    orgUrn: isNamed(organization) ? `tml:organization:${organization}` : undefined,
    email: typeof email === 'string' && email !== '' ? email : undefined,
  };
}

/** The claims of a JWT, or undefined when the text is not a JWT: an ordinary key is not an error here. */
function claimsOf(credential: string): Record<string, unknown> | undefined {
  try {
    return readJwtClaims(credential);
  } catch (error) {
    if (ValidationError.isInstance(error)) return undefined;
    throw error;
  }
}

/** The claim is text, or a number on some servers. */
function isNamed(organization: unknown): boolean {
  return typeof organization === 'number' || (typeof organization === 'string' && organization !== '');
}
