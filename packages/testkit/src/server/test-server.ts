import { type Clock, monotonicTime } from '@tinkex/http/clock';
import { ClockShare } from '../clock/server-clock.js';
import { CONTROL_PREFIX, ControlApi } from '../control/control-api.js';
import { Chaos, type ChaosOptions } from '../faults/chaos.js';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { CallFilter } from '../recorder/recorder.js';
import type { ServerReply, ServerRequest } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';
import { type Notice, VerificationError, type Violation, violationLine } from '../rules/rules.js';
import { Expectation } from '../script/expectation.js';
import type { Gate, GatePlace } from '../script/gate.js';
import type { Script } from '../script/script.js';
import type { QueueStateNote } from '../state/queue-pause.js';
import type { Core } from './core.js';
import { answerFetch } from './fetch-front.js';
import type { Interventions } from './interventions.js';
import { MemoryConnections } from './memory-connections.js';
import type { NodeFront } from './node-front.js';
import { ServerScope } from './server-scope.js';

/** The parts of a {@link TestServer}. */
export interface TestServerParts {
  readonly core: Core;
  readonly interventions: Interventions;
  readonly url: string;
  readonly apiKey: string;
  readonly front?: NodeFront | undefined;
  readonly onClose: () => Promise<void>;
}

/** A whole Tinker service in this process, with controls for the test. Created by `startServer()` or `createTestServer()`. */
export class TestServer {
  /** The base URL for clients. */
  readonly url: string;
  /** A key that the server accepts. */
  readonly apiKey: string;
  /** @internal The calls that arrive without a socket. */
  readonly connections: MemoryConnections;
  readonly #core: Core;
  readonly #interventions: Interventions;
  readonly #front: NodeFront | undefined;
  readonly #control: ControlApi | undefined;
  readonly #onClose: () => Promise<void>;
  readonly #expectations: Expectation[] = [];
  readonly #scopes = new Map<string, ServerScope>();
  #closing: Promise<void> | undefined;
  #isRefusing = false;

  /** @internal Use `startServer()` or `createTestServer()`. */
  constructor(parts: TestServerParts) {
    this.#core = parts.core;
    this.#interventions = parts.interventions;
    this.#front = parts.front;
    this.#onClose = parts.onClose;
    this.url = parts.url;
    this.apiKey = parts.apiKey;
    const { control } = parts.core.server.settings;
    this.#control = control === undefined ? undefined : new ControlApi(this, control);
    this.connections = new MemoryConnections(parts.core.server.clock);
  }

  /** The server's clock: the option, or the system clock. */
  get clock(): Clock {
    return this.#core.server.settings.clock;
  }

  /** @internal How many timers on a virtual clock belong to the server. */
  get pendingTimers(): number {
    const { clock } = this.#core.server;
    return clock instanceof ClockShare ? clock.pending : 0;
  }

  /** Options for a client of this server. */
  get clientOptions(): { readonly baseUrl: string; readonly apiKey: string } {
    return { baseUrl: this.url, apiKey: this.apiKey };
  }

  /** Answers one fetch-style request. */
  async handle(request: Request): Promise<Response> {
    return answerFetch(this, request);
  }

  /** @internal Answers a request without fetch objects; the fronts call it. */
  answer(request: ServerRequest): ServerReply | Promise<ServerReply> {
    if (this.#control !== undefined && request.target.startsWith(CONTROL_PREFIX)) return this.#control.answer(request);
    return this.#core.answer(request);
  }

  /**
   * The controls for the calls of one scope, so that tests that run at the same time share this server. The same name gives the same scope.
   * Throws a `RangeError` for a name that cannot be part of a key.
   */
  scope(name: string): ServerScope {
    const scope = this.#scopes.get(name) ?? new ServerScope(name, this.url, this.#core.recorder, this.#interventions);
    this.#scopes.set(name, scope);
    return scope;
  }

  /** Scripts calls of a route. See {@link Script}. */
  on<Name extends RouteName>(route: Name): Script<Name> {
    return this.#interventions.addScript(route);
  }

  /** Expects a number of calls of a route; `verify` checks it. */
  expect(route: RouteName): Expectation {
    const expectation = new Expectation(route);
    this.#expectations.push(expectation);
    return expectation;
  }

  /** Holds calls of a route from now on, until the gate releases them. Default place: `request`. */
  gate(route: RouteName, options: { readonly at?: GatePlace | undefined } = {}): Gate {
    return this.#interventions.addGate(route, options.at ?? 'request');
  }

  /** Starts random faults that depend only on the seed. Replaces earlier chaos. */
  chaos(options: ChaosOptions): Chaos {
    const chaos = new Chaos(options);
    this.#interventions.setChaos(chaos);
    return chaos;
  }

  /** Stops running operations. Pending polls are answered immediately, and polls report the state until `resumeQueue()`. */
  pauseQueue(note: QueueStateNote = { state: 'paused_capacity' }): void {
    this.#core.server.pause.set(note);
    this.#wakePolls();
  }

  /** Runs operations again. */
  resumeQueue(): void {
    this.#core.server.pause.set(undefined);
  }

  /** Expires a future: polling it answers 410. */
  expireFuture(requestId: string): void {
    for (const tenant of this.#core.server.tenants.all()) tenant.futures.expire(requestId);
  }

  /** Expires a session, as if its heartbeats had stopped long ago. */
  expireSession(sessionId: string): void {
    for (const tenant of this.#core.server.tenants.all()) {
      const session = tenant.sessions.get(sessionId);
      if (session !== undefined) session.lastHeartbeat = monotonicTime(Number.NEGATIVE_INFINITY);
    }
  }

  /** The calls so far, oldest first; at most `recorderLimit` of them. */
  get calls(): readonly RecordedCall[] {
    return this.#core.recorder.calls;
  }

  /** The calls of one route, with its types. */
  callsTo<Name extends RouteName>(route: Name): readonly RecordedCall<Name>[] {
    return this.calls.filter((call) => call.route === route) as unknown as readonly RecordedCall<Name>[];
  }

  /** How many calls of a route there were; with a filter, how many of those still recorded match. */
  count(route: RouteName, filter?: CallFilter): number {
    return this.#core.recorder.count(route, filter);
  }

  /** How many calls are being answered now. */
  inFlight(route?: RouteName): number {
    return this.#core.recorder.inFlight(route);
  }

  /** The most calls that were in flight at the same time. */
  maxConcurrency(route?: RouteName): number {
    return this.#core.recorder.maxConcurrency(route);
  }

  /** Resolves once a route has been called `count` times in total. */
  waitForCalls(route: RouteName, count: number): Promise<void> {
    return this.#core.recorder.waitForCalls(route, count);
  }

  /** The rules that clients broke so far. */
  get violations(): readonly Violation[] {
    return this.#core.recorder.violations;
  }

  /** What the server put up with, each once: with `strict: false`, the fields that it does not know. `verify()` passes with notices. */
  get notices(): readonly Notice[] {
    return this.#core.recorder.notices;
  }

  /** The telemetry events that clients sent, of all tenants. */
  get telemetryEvents(): readonly unknown[] {
    return [...this.#core.server.tenants.all()].flatMap((tenant) => [...tenant.telemetry]);
  }

  /** How many futures are pending. */
  get pendingFutures(): number {
    let count = 0;
    for (const tenant of this.#core.server.tenants.all()) {
      for (const future of tenant.futures.values()) count += future.outcome.state === 'pending' ? 1 : 0;
    }
    return count;
  }

  /** How many connections are open; 0 without a socket. */
  get openSockets(): number {
    return this.#front?.openSockets ?? 0;
  }

  /** Whether connections are refused. */
  get isRefusing(): boolean {
    return this.#isRefusing || this.#closing !== undefined;
  }

  /** Stops listening and resets open connections: new ones are refused until `acceptConnections`. The same for calls in memory. */
  async refuseConnections(): Promise<void> {
    this.#isRefusing = true;
    this.connections.cut();
    await this.#front?.refuseConnections();
  }

  /** Listens on the same port again. */
  async acceptConnections(): Promise<void> {
    await this.#front?.acceptConnections();
    this.#isRefusing = false;
  }

  /** Resets every open connection, including idle ones, and the calls in memory. New connections are accepted. */
  dropConnections(): void {
    this.connections.cut();
    this.#front?.dropConnections();
  }

  /** What `verify` complains about: of the whole server, with all its scopes. */
  get problems(): readonly string[] {
    const { recorder, server, internalErrors } = this.#core;
    return [
      ...recorder.violations.map(violationLine),
      ...this.#expectations.flatMap((expectation) => expectation.complaint(recorder.count(expectation.route)) ?? []),
      ...[...this.#scopes.values()].flatMap((scope) => scope.unmetExpectations),
      ...this.#interventions.complaints(),
      ...[...server.executor.repeated].map((requestId) => `the operation of ${requestId} ran twice`),
      ...internalErrors.map((error) => `the server failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
    ];
  }

  /**
   * Throws a {@link VerificationError} that lists every broken protocol rule, unmet expectation, unused script, operation that ran twice,
   * and failure of the server itself.
   */
  verify(): void {
    const { problems } = this;
    if (problems.length > 0) throw new VerificationError(problems);
  }

  /**
   * Opens all gates and forgets scripts, gates, chaos, expectations, calls, violations, notices and failures of the server itself, so that
   * `verify()` passes. Sessions, models and weights stay.
   */
  reset(): void {
    this.#interventions.clear();
    this.#expectations.length = 0;
    this.#scopes.clear();
    this.#core.internalErrors.length = 0;
    this.#core.recorder.clear();
    this.resumeQueue();
  }

  /** Ends held calls, polls, connections and the listener. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    const { server } = this.#core;
    server.executor.close();
    this.#interventions.clear();
    server.pause.set(undefined);
    this.#wakePolls();
    for (const tenant of server.tenants.all()) {
      for (const model of tenant.models.values()) model.lane.close();
    }
    this.connections.cut();
    await this.#front?.close();
    await this.#onClose();
  }

  #wakePolls(): void {
    for (const tenant of this.#core.server.tenants.all()) {
      for (const future of tenant.futures.values()) future.wake();
    }
  }
}
