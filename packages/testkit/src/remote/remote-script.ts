import type { FaultKind, FaultMoment, FaultPlan } from '../faults/faults.js';
import type { RouteName } from '../routes/route-types.js';
import { callSite } from '../script/call-site.js';
import type { ErrorBody, ScriptedFailure } from '../script/script.js';

/** Sends one instruction to the control API. */
export type SendScript = (script: Readonly<Record<string, unknown>>) => Promise<void>;

/**
 * One instruction for one route of a server in another process. First say which calls and how many, then what happens to them: that sends the
 * instruction. Await it before the calls that it is for.
 */
export class RemoteScript {
  readonly #send: SendScript;
  readonly #script: Record<string, unknown>;

  /** @internal Use `server.on(route)`. */
  constructor(route: RouteName, send: SendScript) {
    this.#send = send;
    this.#script = { route, createdAt: callSite() };
  }

  /** Takes exactly `count` calls; `verify()` complains about fewer. Default: every call, at least one. */
  times(count: number): this {
    this.#script['times'] = count;
    return this;
  }

  /** The same as `times(1)`. */
  once(): this {
    return this.times(1);
  }

  /** Waits on the server's clock before it acts. */
  delay(ms: number): this {
    this.#script['delayMs'] = ms;
    return this;
  }

  /** Takes only polls of this future. */
  forRequestId(requestId: string): this {
    this.#script['requestId'] = requestId;
    return this;
  }

  /** Answers in place of the server. A 2xx body is sent as it is, in the names of the wire; for other statuses see {@link ErrorBody}. */
  reply(status: number, body?: Exclude<ErrorBody, Uint8Array>, headers?: Readonly<Record<string, string>>): Promise<void> {
    return this.#act({ reply: { status, body, headers } });
  }

  /** Accepts the submission and resolves its future to this value, in the names of the wire. */
  result(value: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#act({ result: value });
  }

  /** Accepts the submission and fails its future. */
  fail(failure: ScriptedFailure): Promise<void> {
    return this.#act({ fail: failure });
  }

  /** Breaks the connection, `before` (default) or `after` the work is done. */
  fault(kind: FaultKind, options: { readonly moment?: FaultMoment | undefined } & Omit<FaultPlan, 'kind'> = {}): Promise<void> {
    return this.#act({ fault: { kind, ...options } });
  }

  /** Lets the calls through: to count them, or to add headers to their replies. */
  pass(headers?: Readonly<Record<string, string>>): Promise<void> {
    return this.#act({ pass: { headers } });
  }

  #act(action: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#send({ ...this.#script, ...action });
  }
}
