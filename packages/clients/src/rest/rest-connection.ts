import { ConfigurationError } from '@tinkex/types';
import type { EndpointKey, EndpointRequest, EndpointResponse } from '../calls/endpoint-types.js';
import { Connection, type ConnectionParts } from '../connection/connection.js';
import type { ConnectionOptions } from '../connection/connection-options.js';
import { CONNECTION_OPTION_NAMES, resolveConnectionOptions } from '../connection/resolve-options.js';
import { readEnvironment } from '../environment.js';
import type { CallOptions, CallStep } from '../runtime/call-options.js';
import { rejectUnknownOptions } from '../runtime/reject-unknown-options.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ContentParts } from './checkpoint-content.js';
import { sdkHeaders } from './sdk-headers.js';

/** What REST and admin calls use of their connection. */
export interface RestParts extends ConnectionParts, ContentParts {
  readonly runtime: Runtime;
}

/** Runs one call, after starting the connection if necessary. The signal of the step also covers the call's time limit. */
export type RunRestCall = <T>(options: CallOptions, work: (parts: RestParts, step: CallStep) => Promise<T>) => Promise<T>;

/** Which server a REST or admin client talks to, and for whom. */
export interface RestIdentity {
  readonly baseUrl: string;
  readonly projectId?: string | undefined;
}

/** The connection below a REST or admin client: its own, which it closes, or that of a service client. */
export class RestConnection {
  readonly #run: RunRestCall;
  readonly #close: () => Promise<void>;
  #closing: Promise<void> | undefined;

  /** The project of calls that name none. */
  readonly projectId: string | undefined;

  /** The server's address, normalized. */
  readonly baseUrl: string;

  private constructor(run: RunRestCall, close: () => Promise<void>, { baseUrl, projectId }: RestIdentity) {
    this.#run = run;
    this.#close = close;
    this.baseUrl = baseUrl;
    this.projectId = projectId;
  }

  /** @throws `ConfigurationError` for unknown or invalid options. */
  static open(options: ConnectionOptions): RestConnection {
    rejectUnknownOptions(options, CONNECTION_OPTION_NAMES, '');
    const environment = readEnvironment();
    const resolved = resolveConnectionOptions(options, environment);
    const connection = new Connection(resolved, (parts) => ({
      ...parts,
      exportWeights: refuseExport,
    }));
    return new RestConnection(
      (callOptions, work) => connection.run(callOptions, work),
      () => connection.close(),
      { baseUrl: resolved.baseUrl, projectId: environment.projectId },
    );
  }

  /** Uses a connection that another client closes. */
  static borrow(run: RunRestCall, identity: RestIdentity): RestConnection {
    return new RestConnection(run, async () => undefined, identity);
  }

  /** Runs the work of a public method. Its requests name the method. */
  run<T>(method: string, options: CallOptions, work: (parts: RestParts, step: CallStep) => Promise<T>): Promise<T> {
    return this.#run(options, (parts, step) =>
      work(parts, { ...step, headers: { ...sdkHeaders(method, parts.sdkVersion), ...step.headers } }),
    );
  }

  /** Calls one endpoint for a public method. */
  async call<Key extends EndpointKey>(
    method: string,
    key: Key,
    request: EndpointRequest<Key>,
    options: CallOptions,
  ): Promise<EndpointResponse<Key>> {
    return this.run(method, options, ({ calls }, step) => calls.call(key, request, step));
  }

  /** Closes the connection if it is this object's own. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }
}

async function refuseExport(tinkerPath: string): Promise<never> {
  throw new ConfigurationError({
    message: `${tinkerPath} must be exported before it is downloaded, which needs a session. Use service.createRestClient() instead.`,
    option: 'tinkerPath',
  });
}
