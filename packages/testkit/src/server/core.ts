import { SIGNED_PREFIX, signedDownload } from '../archive/signed-downloads.js';
import { authenticate } from '../checks/authenticate.js';
import { checkHeaders } from '../checks/check-headers.js';
import { decompressZstd } from '../checks/decompress.js';
import { readBody } from '../checks/read-body.js';
import { readQuery } from '../checks/read-query.js';
import { ROUTE_HANDLERS } from '../handlers/route-handlers.js';
import { StateWriteError } from '../persistence/state-store.js';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import { errorReply, ReplyError, refuse, type ServerReply, type ServerRequest } from '../requests/message.js';
import { RequestContext, type RouteHandler } from '../requests/request-context.js';
import type { RouteName } from '../routes/route-types.js';
import { type RouteMatch, Router } from '../routes/router.js';
import { type ServerContext, wallClockMs } from '../state/server-context.js';
import type { Interventions } from './interventions.js';

type KnownRoute = Extract<RouteMatch, { readonly query: string }>;

/** Routes whose repeats cannot be recognized by the body alone: a retry has the same idempotency key. */
const REPLAYED_ROUTES: ReadonlySet<RouteName> = new Set<RouteName>([
  'copyWeights',
  'createSession',
  'joinSamplingSession',
  'deleteCheckpoint',
  'publishCheckpoint',
  'unpublishCheckpoint',
]);

/**
 * The whole API as one function from request to reply. It stays synchronous where there is nothing to wait for, so that the fronts
 * are as fast as their sockets.
 */
export class Core {
  readonly server: ServerContext;
  readonly recorder: Recorder;
  /** Failures of the server itself. Empty unless the testkit or its engine is broken. */
  readonly internalErrors: unknown[] = [];
  readonly #interventions: Interventions;
  readonly #router: Router;
  readonly #missing: ReadonlySet<RouteName>;

  constructor(server: ServerContext, recorder: Recorder, interventions: Interventions) {
    this.server = server;
    this.recorder = recorder;
    this.#interventions = interventions;
    this.#router = new Router(server.settings.basePath);
    this.#missing = new Set(server.dialect.missingRoutes);
  }

  /** Answers a request. Never throws or rejects: every failure is a reply. */
  answer(request: ServerRequest): ServerReply | Promise<ServerReply> {
    const isSigned = request.target.startsWith(SIGNED_PREFIX);
    const match: RouteMatch = isSigned ? { route: undefined, isKnownPath: true } : this.#router.match(request.method, request.target);
    const call = this.recorder.begin(request, match.route);
    try {
      const reply = isSigned ? signedDownload(this.server, request) : this.#route(request, call, match);
      return reply instanceof Promise ? this.#settle(call, reply) : this.#finish(call, reply);
    } catch (error) {
      return this.#finish(call, this.replyTo(error));
    }
  }

  /** The answer to a body that was not read to its end. */
  refuseTooLarge(request: ServerRequest): ServerReply {
    const { route } = this.#router.match(request.method, request.target);
    const call = this.recorder.begin(request, route);
    const detail = `The body has more than ${this.server.settings.maxBodyBytes} bytes`;
    this.recorder.violate(call, 'body-too-large', detail);
    return this.#finish(call, errorReply(413, detail, { connection: 'close' }));
  }

  async #settle(call: RecordedCall, pending: Promise<ServerReply>): Promise<ServerReply> {
    try {
      return this.#finish(call, await pending);
    } catch (error) {
      return this.#finish(call, this.replyTo(error));
    }
  }

  #finish(call: RecordedCall, reply: ServerReply): ServerReply {
    if (this.server.settings.clockSkewMs !== 0) reply.headers['date'] = new Date(wallClockMs(this.server)).toUTCString();
    try {
      this.recorder.end(call, reply);
    } catch (error) {
      // The `onCall` of a test has thrown: `verify()` reports it, and the client still gets its reply.
      this.internalErrors.push(error);
    }
    return reply;
  }

  /** The reply to a request that failed. */
  replyTo(error: unknown): ServerReply {
    if (error instanceof ReplyError) return error.reply;
    this.internalErrors.push(error);
    if (error instanceof StateWriteError) return errorReply(503, error.message);
    return errorReply(500, 'The test server failed; server.verify() reports why');
  }

  #route(request: ServerRequest, call: RecordedCall, match: RouteMatch): ServerReply | Promise<ServerReply> {
    if (match.route === undefined) {
      const rule = match.isKnownPath ? 'method-not-allowed' : 'route-unknown';
      this.recorder.violate(call, rule, `${request.method} ${call.path} is not an endpoint`);
      refuse(match.isKnownPath ? 405 : 404, match.isKnownPath ? 'Method Not Allowed' : 'Not Found');
    }
    if (this.#missing.has(match.route)) refuse(this.server.dialect.missingStatus, 'Not Found');
    if (request.body.length > this.server.settings.maxBodyBytes) {
      this.recorder.violate(call, 'body-too-large', `the body has ${request.body.length} bytes`);
      refuse(413, `The body has more than ${this.server.settings.maxBodyBytes} bytes`);
    }
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      return this.#plainBody(request, call, match, encoding).then((body) => this.#dispatch(request, body, call, match));
    }
    return this.#dispatch(request, request.body, call, match);
  }

  async #plainBody(request: ServerRequest, call: RecordedCall, match: KnownRoute, encoding: string): Promise<Uint8Array> {
    if (match.route !== 'forwardBackward' || encoding !== 'zstd') {
      this.recorder.violate(call, 'content-encoding', `${match.route} came with the content encoding ${encoding}`);
      refuse(415, `${match.route} does not take the content encoding ${encoding}`);
    }
    try {
      return await decompressZstd(request.body, this.server.settings.maxBodyBytes);
    } catch (error) {
      const detail = `The body is not a zstd frame: ${error instanceof Error ? error.message : String(error)}`;
      this.recorder.violate(call, 'body-malformed', detail);
      refuse(400, detail);
    }
  }

  #dispatch(raw: ServerRequest, body: Uint8Array, call: RecordedCall, match: KnownRoute): ServerReply | Promise<ServerReply> {
    const { server, recorder } = this;
    const { route, params } = match;
    const tenant = authenticate(server, recorder, call, route, raw.headers);
    call.tenant = tenant.label;
    call.params = params;
    checkHeaders(recorder, call, route, raw);
    const request = readBody({
      recorder,
      call,
      dialect: server.dialect,
      isStrict: server.settings.isStrict,
      tenant,
      route,
      contentType: raw.headers['content-type'],
      body,
    });
    call.setRequest(request);
    const query = readQuery({ recorder, call, isStrict: server.settings.isStrict, route, text: match.query });
    call.setQuery(query);
    const context = new RequestContext({
      server,
      recorder,
      route,
      raw,
      body,
      call,
      params,
      tenant,
      request: request as never,
      query: query as never,
    });
    const run = () => this.#kept(this.#run(context));
    return this.#interventions.isQuiet(route) ? run() : this.#interventions.intervene(context, run);
  }

  /** A reply acknowledges what the request has changed: it waits until that is kept. */
  #kept(reply: ServerReply | Promise<ServerReply>): ServerReply | Promise<ServerReply> {
    if (reply instanceof Promise) return reply.then((settled) => this.#kept(settled));
    const kept = this.server.changes.settle();
    return kept === undefined ? reply : kept.then(() => reply);
  }

  #run(context: RequestContext): ServerReply | Promise<ServerReply> {
    const key = REPLAYED_ROUTES.has(context.route) ? context.raw.headers['x-idempotency-key'] : undefined;
    const handler = ROUTE_HANDLERS[context.route] as RouteHandler<RouteName>;
    if (key === undefined) return this.#runOrSkip(context, handler);
    const scopedKey = `${context.raw.method} ${context.raw.target} ${key}`;
    const earlier = context.tenant.replay(scopedKey);
    if (earlier !== undefined && earlier.fingerprint !== context.fingerprint) {
      context.reject(422, 'idempotency-key-reused', `the key was used before for another body of ${context.route}`);
    }
    if (earlier !== undefined) return { ...earlier.reply, headers: { ...earlier.reply.headers } };
    const reply = handler(context);
    if (!(reply instanceof Promise)) context.tenant.remember(scopedKey, { fingerprint: context.fingerprint, reply });
    return reply;
  }

  #runOrSkip(context: RequestContext, handler: RouteHandler<RouteName>): ServerReply | Promise<ServerReply> {
    try {
      return handler(context);
    } catch (error) {
      if (error instanceof ReplyError) context.skipIfRefused(error.reply.status);
      throw error;
    }
  }
}
