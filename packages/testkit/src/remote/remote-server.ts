import type { ChaosOptions } from '../faults/chaos.js';
import { scopedKey } from '../requests/scope-of.js';
import type { RouteName } from '../routes/route-types.js';
import { VerificationError } from '../rules/rules.js';
import { DEFAULT_API_KEY } from '../state/tenant-directory.js';
import { type ControlAddress, controlRequest } from './control-request.js';
import { RemoteScript } from './remote-script.js';

/** A recorded call, as the control API shows it. Times are milliseconds on the server's clock. */
export interface RemoteCall {
  /** Its position among all calls of the server, from 0. */
  readonly index: number;
  readonly route?: RouteName | undefined;
  readonly method: string;
  readonly path: string;
  /** Lower-case names, credentials hidden. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tenant?: string | undefined;
  readonly scope?: string | undefined;
  /** The future that it polled or created. */
  readonly requestId?: string | undefined;
  /** Undefined while there is no reply. */
  readonly status?: number | undefined;
  readonly requestBytes: number;
  readonly replyBytes?: number | undefined;
  readonly fault?: string | undefined;
  readonly arrivedAtMs: number;
  readonly repliedAtMs?: number | undefined;
  /** The decoded body, in the names of the wire. */
  readonly request?: unknown;
  readonly violations: readonly { readonly rule: string; readonly detail: string; readonly url: string }[];
}

/** Which calls {@link RemoteServer.calls} returns. */
export interface RemoteCallFilter {
  readonly route?: RouteName | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** Only calls with this index or a higher one. */
  readonly since?: number | undefined;
  /** The most calls. Default 1,000. */
  readonly limit?: number | undefined;
}

/** How many calls {@link RemoteServer.expect} expects. Without numbers: at least one. */
export interface ExpectedCalls {
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

/**
 * A test server in another process, controlled over HTTP: scripts, faults, chaos, the clock and the journal of one scope, or of the whole server.
 * Every instruction is a promise: await it before the calls that it is for.
 */
export class RemoteServer {
  readonly #address: () => ControlAddress;
  /** Instructions that are on their way. One that was not awaited must not arrive after `verify()` or `reset()`. */
  readonly #pending = new Set<Promise<unknown>>();

  /** @internal Use `connectTestServer()`. */
  constructor(address: () => ControlAddress) {
    this.#address = address;
  }

  /** The base URL for clients. */
  get url(): string {
    return this.#address().url;
  }

  /** The API key for clients; of a scope, the key whose calls belong to it. */
  get apiKey(): string {
    const { scope } = this.#address();
    return scope === undefined ? DEFAULT_API_KEY : scopedKey(scope);
  }

  /** What a client of the server needs. */
  get clientOptions(): { readonly baseUrl: string; readonly apiKey: string } {
    return { baseUrl: this.url, apiKey: this.apiKey };
  }

  /** Scripts calls of a route: `await server.on('asample').once().reply(429, { retryAfterMs: 200 })`. */
  on(route: RouteName): RemoteScript {
    return new RemoteScript(route, (script) => this.#instruct('/scripts', script));
  }

  /** Expects a number of calls of a route; `verify()` checks it. */
  expect(route: RouteName, { atLeast, atMost }: ExpectedCalls = {}): Promise<void> {
    return this.#instruct('/expectations', { route, atLeast, atMost });
  }

  /** Starts random faults that depend on the seed. */
  chaos(options: ChaosOptions & { readonly kinds?: Exclude<ChaosOptions['kinds'], (...args: never[]) => unknown> }): Promise<void> {
    return this.#instruct('/chaos', { ...options });
  }

  /** The recorded calls, oldest first. */
  async calls(filter: RemoteCallFilter = {}): Promise<readonly RemoteCall[]> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
    const { calls } = (await controlRequest(this.#address(), 'GET', `/calls?${query}`)) as { readonly calls: readonly RemoteCall[] };
    return calls;
  }

  /** How many calls of a route are recorded. */
  async count(route: RouteName): Promise<number> {
    return (await this.calls({ route, limit: Number.MAX_SAFE_INTEGER })).length;
  }

  /** Moves the virtual clock of the server, for all its scopes. */
  advance(ms: number): Promise<void> {
    return this.#instruct('/clock', { advanceMs: ms });
  }

  /** Throws a `VerificationError` that lists every broken rule, unmet expectation and unused script. */
  async verify(): Promise<void> {
    await Promise.all(this.#pending);
    const { problems } = (await controlRequest(this.#address(), 'GET', '/verify')) as { readonly problems: readonly string[] };
    if (problems.length > 0) throw new VerificationError(problems);
  }

  /** Forgets scripts, chaos, expectations and calls. */
  async reset(): Promise<void> {
    await Promise.all(this.#pending);
    await controlRequest(this.#address(), 'POST', '/reset', {});
  }

  #instruct(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    const instruction = controlRequest(this.#address(), 'POST', path, body);
    const settled: Promise<unknown> = instruction.then(noop, noop);
    this.#pending.add(settled);
    void settled.then(() => this.#pending.delete(settled));
    return instruction.then(noop);
  }
}

function noop(): void {
  // The outcome belongs to the caller that awaits the instruction.
}
