import type { AuthProvider } from '../auth/auth-provider.js';
import type { Clock } from '../clock/clock.js';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.js';
import type { Attempt } from './attempt.js';
import type { Lifetime } from './lifetime.js';
import type { Middleware, Send } from './middleware.js';
import { followRedirects, redirectTarget } from './redirects.js';
import { compose } from './stage.js';

/** The inner half of the pipeline, which each attempt goes through: user middleware, the credential, the transport. */
export class Wire {
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly #auth: AuthProvider | undefined;
  readonly #transport: Transport;
  readonly #layered: Send | undefined;

  constructor(clock: Clock, lifetime: Lifetime, transport: Transport, auth: AuthProvider | undefined, middleware: readonly Middleware[]) {
    this.clock = clock;
    this.lifetime = lifetime;
    this.#transport = transport;
    this.#auth = auth;
    if (middleware.length > 0) this.#layered = compose(middleware, (request) => this.#sendCopy(request));
  }

  /** Sends an attempt. Without middleware nobody else holds the attempt's headers, so the credential goes straight into them. */
  exchange(attempt: Attempt): Promise<TransportResponse> {
    if (this.#layered !== undefined) return this.#layered(attempt.toPlain());
    if (this.#auth === undefined) return this.#transport.send(attempt);
    const credential = this.#auth.current?.();
    if (credential === undefined) return this.#resolveAndSend(attempt, this.#auth);
    for (const name in credential) attempt.headers[name] = credential[name] as string;
    return this.#transport.send(attempt);
  }

  isRedirect(attempt: Attempt, response: TransportResponse): boolean {
    return redirectTarget(attempt, response) !== undefined;
  }

  /** A hop inside the origin is a request like any other; a hop that leaves it passes the transport only, without the credential. */
  follow(attempt: Attempt, response: TransportResponse): Promise<TransportResponse> {
    const inside = this.#layered ?? ((request: TransportRequest) => this.#sendCopy(request));
    return followRedirects(attempt.toPlain(), response, inside, (request) => this.#transport.send(request));
  }

  async #resolveAndSend(attempt: Attempt, auth: AuthProvider): Promise<TransportResponse> {
    Object.assign(attempt.headers, await auth.headers(attempt.signal));
    return this.#transport.send(attempt);
  }

  async #sendCopy(request: TransportRequest): Promise<TransportResponse> {
    if (this.#auth === undefined) return this.#transport.send(request);
    const credential = this.#auth.current?.() ?? (await this.#auth.headers(request.signal));
    return this.#transport.send({ ...request, headers: { ...request.headers, ...credential } });
  }
}
