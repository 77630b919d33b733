import { createHash, timingSafeEqual } from 'node:crypto';
import { VirtualClock } from '@tinkex/http/testing';
import { type JsonValue, ValidationError } from '@tinkex/types';
import { isPlainObject, parseJson, stringifyJson } from '@tinkex/types/wire';
import type { ChaosOptions } from '../faults/chaos.js';
import { CHAOS_KINDS, FAULT_KINDS } from '../faults/faults.js';
import { jsonTextReply, type ServerReply, type ServerRequest } from '../requests/message.js';
import { SCOPE_HEADER } from '../requests/scope-of.js';
import { allRoutes, requireRoute } from '../routes/require-route.js';
import type { RouteName } from '../routes/route-types.js';
import type { Script } from '../script/script.js';
import type { ServerScope } from '../server/server-scope.js';
import type { TestServer } from '../server/test-server.js';
import { callJson } from './call-json.js';
import { ControlError } from './control-error.js';
import { addScript } from './control-script.js';

/** Where the control API is, on the server's own address. */
export const CONTROL_PREFIX = '/__testkit';

const DEFAULT_CALLS = 1_000;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Who may use the control API. */
export interface ControlAccess {
  /** Sent as `Authorization: Bearer …`. */
  readonly token: string;
  /** Whether machines other than this one may use it. */
  readonly allowRemote: boolean;
}

/** What `/__testkit` controls: the whole server, or one scope of it. */
type Controlled = TestServer | ServerScope;

interface ControlRequest {
  readonly server: TestServer;
  readonly target: Controlled;
  readonly query: URLSearchParams;
  readonly body: JsonValue | undefined;
}

type ControlHandler = (request: ControlRequest) => JsonValue | undefined | Promise<JsonValue | undefined>;

/** Every route of the control API. */
const HANDLERS: Readonly<Record<string, ControlHandler>> = {
  'GET ': ({ server }) => ({ url: server.url, routes: allRoutes(), faults: FAULT_KINDS, chaosKinds: CHAOS_KINDS }),
  'POST /scripts': ({ target, body }) => scriptJson(addScript(body, (route) => target.on(route) as unknown as Script)),
  'POST /expectations': ({ target, body }) => expectCalls(target, fieldsOf(body, ['route', 'atLeast', 'atMost'])),
  'POST /chaos': ({ target, body }) => {
    target.chaos(fieldsOf(body, ['seed', 'rate', 'kinds', 'routes', 'maxFaultsPerOperation', 'maxDelayMs']) as unknown as ChaosOptions);
    return {};
  },
  'GET /clock': ({ server }) => clockJson(virtualClock(server)),
  'POST /clock': async ({ server, body }) => {
    const { advanceMs } = fieldsOf(body, ['advanceMs']);
    if (typeof advanceMs !== 'number' || !(advanceMs >= 0)) throw new ControlError(400, 'advanceMs must be a number >= 0.');
    const clock = virtualClock(server);
    await clock.advance(advanceMs);
    return clockJson(clock);
  },
  'GET /calls': ({ target, query }) => ({ calls: callsOf(target, query).map(callJson) }),
  'GET /verify': ({ target }) => ({ problems: [...target.problems] }),
  'POST /reset': ({ target }) => {
    target.reset();
    return {};
  },
};

/** Scripts, faults, chaos, the clock and the journal of a server over HTTP, for tests in other processes and languages. */
export class ControlApi {
  readonly #server: TestServer;
  readonly #tokenHash: Buffer;
  readonly #allowRemote: boolean;

  constructor(server: TestServer, { token, allowRemote }: ControlAccess) {
    this.#server = server;
    this.#tokenHash = hashOf(token);
    this.#allowRemote = allowRemote;
  }

  /** Answers a request below {@link CONTROL_PREFIX}. Never rejects. */
  async answer(request: ServerRequest): Promise<ServerReply> {
    try {
      this.#authorize(request);
      const { pathname, searchParams } = new URL(request.target, 'http://localhost');
      const path = pathname.slice(CONTROL_PREFIX.length).replace(/\/+$/, '');
      const handler = Object.hasOwn(HANDLERS, `${request.method} ${path}`) ? HANDLERS[`${request.method} ${path}`] : undefined;
      if (handler === undefined) throw new ControlError(404, `There is no ${request.method} ${pathname}. Known: ${knownRoutes()}.`);
      const scope = request.headers[SCOPE_HEADER];
      const target = scope === undefined ? this.#server : this.#server.scope(scope);
      const body = request.body.length === 0 ? undefined : parseJson(request.body);
      const answer = await handler({ server: this.#server, target, query: searchParams, body });
      return jsonTextReply(200, stringifyJson(answer ?? {}));
    } catch (error) {
      return failureReply(error);
    }
  }

  #authorize({ headers, peer }: ServerRequest): void {
    if (!this.#allowRemote && peer !== undefined && !LOOPBACK.test(peer)) {
      throw new ControlError(
        403,
        'Only programs on the same machine may control this server; start it with --control-remote to allow others.',
      );
    }
    const [, token = ''] = /^Bearer (.+)$/.exec(headers['authorization'] ?? '') ?? [];
    if (!timingSafeEqual(hashOf(token), this.#tokenHash)) {
      throw new ControlError(401, 'Send the control token of the server as Authorization: Bearer TOKEN.');
    }
  }
}

function failureReply(error: unknown): ServerReply {
  // What the test sent was wrong: these are the errors that the same call in process throws.
  const isUserError = error instanceof RangeError || error instanceof TypeError || ValidationError.isInstance(error);
  const status = error instanceof ControlError ? error.status : isUserError ? 400 : 500;
  return jsonTextReply(status, JSON.stringify({ detail: error instanceof Error ? error.message : String(error) }));
}

function knownRoutes(): string {
  return Object.keys(HANDLERS)
    .map((key) => key.replace(' ', ` ${CONTROL_PREFIX}`))
    .join(', ');
}

function fieldsOf(body: JsonValue | undefined, known: readonly string[]): Readonly<Record<string, JsonValue | undefined>> {
  if (!isPlainObject(body)) throw new ControlError(400, 'Send a JSON object.');
  const unknown = Object.keys(body).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new ControlError(400, `There is no field ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
  return body as Readonly<Record<string, JsonValue | undefined>>;
}

function expectCalls(target: Controlled, { route, atLeast, atMost }: Readonly<Record<string, JsonValue | undefined>>): JsonValue {
  const limits = [atLeast, atMost].filter((limit) => limit !== undefined);
  if (limits.some((limit) => !Number.isInteger(limit) || Number(limit) < 0))
    throw new ControlError(400, 'atLeast and atMost are whole numbers >= 0.');
  const expectation = target.expect(route as RouteName);
  if (atLeast !== undefined) expectation.atLeast(Number(atLeast));
  if (atMost !== undefined) expectation.atMost(Number(atMost));
  return {};
}

function scriptJson({ route }: Script): JsonValue {
  return { route };
}

function callsOf(target: Controlled, query: URLSearchParams) {
  const known = ['route', 'status', 'requestId', 'tenant', 'since', 'limit'];
  const unknown = [...query.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new ControlError(400, `There is no filter ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  const [route, status, requestId, tenant] = [text('route'), text('status'), text('requestId'), text('tenant')];
  if (route !== undefined) requireRoute(route as RouteName);
  const since = Number(text('since') ?? 0);
  const limit = Number(text('limit') ?? DEFAULT_CALLS);
  if (!Number.isInteger(since) || !Number.isInteger(limit) || limit < 1) throw new ControlError(400, 'since and limit are whole numbers.');
  const found = target.calls.filter(
    (call) =>
      call.index >= since &&
      (route === undefined || call.route === route) &&
      (status === undefined || String(call.status) === status) &&
      (requestId === undefined || call.requestId === requestId) &&
      (tenant === undefined || call.tenant === tenant),
  );
  return found.slice(0, limit);
}

function virtualClock({ clock }: TestServer): VirtualClock {
  if (clock instanceof VirtualClock) return clock;
  throw new ControlError(409, 'This server runs on the system clock. Start it with --virtual-clock, or pass a VirtualClock.');
}

function clockJson(clock: VirtualClock): JsonValue {
  return { nowMs: clock.wallMs(), pendingTimers: clock.pending, nextInMs: clock.nextInMs ?? null };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
