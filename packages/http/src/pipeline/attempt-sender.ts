import { rememberHeaders } from '@tinkex/types/wire';
import type { AuthProvider } from '../auth/auth-provider.js';
import type { Middleware, Send, Transport, TransportRequest, TransportResponse } from '../transport/transport.js';
import type { Attempt } from './attempt.js';
import { followRedirects, redirectTarget } from './redirects.js';

/** Sends each attempt: through your middleware, with the credential, over the transport. */
export class AttemptSender {
  readonly #auth: AuthProvider | undefined;
  readonly #transport: Transport;
  readonly #throughMiddleware: Send | undefined;
  #remembered: Readonly<Record<string, string>> | undefined;

  constructor(transport: Transport, auth: AuthProvider | undefined, middleware: readonly Middleware[]) {
    this.#transport = transport;
    this.#auth = auth;
    if (middleware.length > 0) {
      this.#throughMiddleware = middleware.reduceRight<Send>((next, layer) => (request) => layer(request, next), this.#sendCopy);
    }
  }

  /** Without middleware only the attempt holds its headers, so the credential is written into them. */
  send(attempt: Attempt): Promise<TransportResponse> {
    if (this.#throughMiddleware !== undefined) return this.#throughMiddleware(attempt.toPlain());
    if (this.#auth === undefined) return this.#transport.send(attempt);
    const credential = this.#auth.current?.();
    if (credential === undefined) return this.#resolveAndSend(attempt, this.#auth);
    this.#remember(credential);
    for (const name in credential) attempt.headers[name] = credential[name] as string;
    return this.#transport.send(attempt);
  }

  isRedirect(attempt: Attempt, response: TransportResponse): boolean {
    return redirectTarget(attempt, response) !== undefined;
  }

  /** A hop inside the origin is a request like any other; a hop that leaves it goes to the transport without the credential. */
  follow(attempt: Attempt, response: TransportResponse): Promise<TransportResponse> {
    const sendInside = this.#throughMiddleware ?? this.#sendCopy;
    return followRedirects(attempt.toPlain(), response, sendInside, (request) => this.#transport.send(request));
  }

  async #resolveAndSend(attempt: Attempt, auth: AuthProvider): Promise<TransportResponse> {
    const credential = await auth.headers(attempt.signal);
    this.#remember(credential);
    Object.assign(attempt.headers, credential);
    return this.#transport.send(attempt);
  }

  /** A server that echoes the credential must not bring it into a message. Usually the object is the last attempt's. */
  #remember(credential: Readonly<Record<string, string>>): void {
    if (credential === this.#remembered) return;
    this.#remembered = credential;
    rememberHeaders(credential, true);
  }

  readonly #sendCopy = async (request: TransportRequest): Promise<TransportResponse> => {
    const credential = this.#auth?.current?.() ?? (await this.#auth?.headers(request.signal));
    if (credential !== undefined) this.#remember(credential);
    return this.#transport.send({ ...request, headers: { ...request.headers, ...credential } });
  };
}
