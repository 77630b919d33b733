import { isRetryableStatus } from '@tinkex/types/wire';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import type { QueryOf, RequestOf, RouteName, RouteParams } from '../routes/route-types.js';
import type { RuleId } from '../rules/rules.js';
import type { ScriptAction, ScriptedCall } from '../script/script.js';
import type { ServerContext } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';
import { fingerprint } from './fingerprint.js';
import { refuse, type ServerReply, type ServerRequest } from './message.js';

/** The outcome of a future that a script sets in place of the engine's. */
export interface OutcomeOverride {
  readonly action: Extract<ScriptAction, { kind: 'result' | 'fail' }>;
  readonly call: ScriptedCall;
}

/** One checked request and everything that its handler works with. */
export class RequestContext<Name extends RouteName = RouteName> {
  readonly server: ServerContext;
  readonly route: Name;
  readonly raw: ServerRequest;
  /** Decompressed. */
  readonly body: Uint8Array;
  readonly call: RecordedCall<Name>;
  readonly params: RouteParams;
  readonly tenant: Tenant;
  readonly request: RequestOf<Name>;
  readonly query: QueryOf<Name>;
  /** Set by a script that answers in place of the engine. */
  override: OutcomeOverride | undefined;
  readonly #recorder: Recorder;
  #fingerprint: string | undefined;

  constructor(init: {
    readonly server: ServerContext;
    readonly recorder: Recorder;
    readonly route: Name;
    readonly raw: ServerRequest;
    readonly body: Uint8Array;
    readonly call: RecordedCall<Name>;
    readonly params: RouteParams;
    readonly tenant: Tenant;
    readonly request: RequestOf<Name>;
    readonly query: QueryOf<Name>;
  }) {
    this.server = init.server;
    this.#recorder = init.recorder;
    this.route = init.route;
    this.raw = init.raw;
    this.body = init.body;
    this.call = init.call;
    this.params = init.params;
    this.tenant = init.tenant;
    this.request = init.request;
    this.query = init.query;
  }

  /** The fingerprint of the body: equal for identical requests. */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprint(this.body);
    return this.#fingerprint;
  }

  /** Records a broken rule and continues. */
  violate(rule: RuleId, detail: string): void {
    this.#recorder.violate(this.call, rule, detail);
  }

  /** Records a broken rule and answers with an error. */
  reject(status: number, rule: RuleId, detail: string): never {
    this.violate(rule, detail);
    refuse(status, detail);
  }

  /** Gives up the sequence ID of a submission that was refused for good: the operations behind it must not wait for it. */
  skipIfRefused(status: number): void {
    const isFinal = status >= 400 && status !== 402 && !isRetryableStatus(status);
    const { modelId, seqId } = (this.request ?? {}) as { readonly modelId?: unknown; readonly seqId?: unknown };
    if (isFinal && typeof modelId === 'string' && typeof seqId === 'number') this.tenant.skip(modelId, seqId, this.server.dialect);
  }
}

/** Answers the requests to a route. */
export type RouteHandler<Name extends RouteName> = (context: RequestContext<Name>) => ServerReply | Promise<ServerReply>;
