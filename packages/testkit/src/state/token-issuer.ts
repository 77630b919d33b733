import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The claims of a token that the server issues. */
export interface TokenClaims {
  readonly sub: string;
  readonly org_id: string | undefined;
  /** The tenant's label. */
  readonly tenant: string;
  readonly iss: string;
  /** Unix seconds. */
  readonly exp: number;
  readonly email?: string | undefined;
}

const HEADER = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }));

/** Signs and checks what the server gives out: JWTs and the signatures of download URLs. */
export class TokenIssuer {
  readonly #secret = randomBytes(32);

  /** A JWT with these claims. */
  issue(claims: TokenClaims): string {
    const content = `${HEADER}.${base64url(JSON.stringify(claims))}`;
    return `${content}.${this.sign(content)}`;
  }

  /** The claims of a token this server signed, expired or not; undefined for any other. */
  read(token: string): TokenClaims | undefined {
    const end = token.lastIndexOf('.');
    const content = token.slice(0, end);
    if (end < 0 || !this.isSignature(content, token.slice(end + 1))) return undefined;
    return JSON.parse(Buffer.from(content.slice(content.indexOf('.') + 1), 'base64url').toString('utf8')) as TokenClaims;
  }

  sign(content: string): string {
    return createHmac('sha256', this.#secret).update(content).digest('base64url');
  }

  isSignature(content: string, signature: string): boolean {
    const wanted = Buffer.from(this.sign(content));
    const given = Buffer.from(signature);
    return wanted.length === given.length && timingSafeEqual(wanted, given);
  }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
