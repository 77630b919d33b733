import type { Clock } from '@tinkex/http';
import { pause } from '../clock/server-clock.js';
import type { Chaos } from '../faults/chaos.js';
import { chaosReply, faultyReply, needsRealReply } from '../faults/faults.js';
import type { ServerReply } from '../requests/message.js';
import type { RequestContext } from '../requests/request-context.js';
import { requireRoute } from '../routes/require-route.js';
import type { RouteName } from '../routes/route-types.js';
import { Gate, type GatePlace } from '../script/gate.js';
import { Script, type TakenScript } from '../script/script.js';
import { scriptedReply } from '../script/scripted-reply.js';

/** What a test puts between a request and its handler: chaos, gates, scripts. */
export class Interventions {
  readonly #scripts = new Map<RouteName, Script[]>();
  readonly #clock: Clock;
  readonly #gates: Gate[] = [];
  readonly #chaos = new Map<string | undefined, Chaos>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts chaos for the calls of a scope, or for all calls that have no chaos of their scope. */
  setChaos(chaos: Chaos, scope?: string): void {
    this.#chaos.set(scope, chaos);
  }

  addScript<Name extends RouteName>(route: Name, scope?: string): Script<Name> {
    const script = new Script(route, scope);
    this.#scripts.set(route, [...(this.#scripts.get(route) ?? []), script as unknown as Script]);
    return script;
  }

  /** What `verify` says about the scripts; with a scope, about those of the scope. */
  complaints(scope?: string): string[] {
    const scripts = [...this.#scripts.values()].flat();
    return scripts.filter((script) => scope === undefined || script.scope === scope).flatMap((script) => script.complaint() ?? []);
  }

  addGate(route: RouteName, place: GatePlace): Gate {
    const gate = new Gate(requireRoute(route), place);
    this.#gates.push(gate);
    return gate;
  }

  gateAt(route: RouteName, place: GatePlace): Gate | undefined {
    return this.#gates.findLast((gate) => gate.route === route && gate.place === place);
  }

  /** Whether the test has set up nothing for this route. */
  isQuiet(route: RouteName): boolean {
    return this.#chaos.size === 0 && !this.#scripts.has(route) && !this.#gates.some((gate) => gate.route === route);
  }

  /** Releases every held call and forgets scripts, gates and chaos. */
  clear(): void {
    for (const gate of this.#gates) gate.open();
    this.#gates.length = 0;
    this.#scripts.clear();
    this.#chaos.clear();
  }

  /** Forgets the scripts and the chaos of a scope. */
  clearScope(scope: string): void {
    for (const [route, scripts] of this.#scripts) {
      const others = scripts.filter((script) => script.scope !== scope);
      if (others.length === 0) this.#scripts.delete(route);
      else this.#scripts.set(route, others);
    }
    this.#chaos.delete(scope);
  }

  /** Takes a call through chaos, gates and scripts to its handler, or to what replaces it. */
  async intervene(context: RequestContext, run: () => ServerReply | Promise<ServerReply>): Promise<ServerReply> {
    const { route, raw } = context;
    const chaos = this.#chaos.get(context.call.scope) ?? this.#chaos.get(undefined);
    const { kind, moment, delayMs = 0 } = chaos?.decide(context) ?? {};
    if (delayMs > 0) await pause(this.#clock, delayMs);
    if (kind !== undefined) context.call.fault = kind;
    if (kind !== undefined && moment === 'before' && !needsRealReply(kind)) return chaosReply(kind, route, undefined);
    await this.gateAt(route, 'request')?.hold(raw.onAbort?.bind(raw));
    const reply = await this.#perform(context, run);
    await this.gateAt(route, 'reply')?.hold(raw.onAbort?.bind(raw));
    return kind === undefined ? reply : chaosReply(kind, route, reply);
  }

  async #perform(context: RequestContext, run: () => ServerReply | Promise<ServerReply>): Promise<ServerReply> {
    const taken = this.#take(context);
    if (taken !== undefined && taken.delayMs > 0) await pause(this.#clock, taken.delayMs);
    switch (taken?.action.kind) {
      case 'reply': {
        const reply = await scriptedReply(taken.action, taken.call);
        context.skipIfRefused(reply.status);
        return reply;
      }
      case 'fault':
        context.call.fault = taken.action.plan.kind;
        return faultyReply(taken.action.plan, isWorkDone(taken.action) ? await run() : undefined);
      case 'result':
      case 'fail':
        context.override = { action: taken.action, call: taken.call };
        return run();
      case 'pass':
        return withHeaders(await run(), taken.action.headers);
      default:
        return run();
    }
  }

  #take({ route, params, call, tenant, request, query }: RequestContext): TakenScript | undefined {
    const scripts = this.#scripts.get(route);
    if (scripts === undefined) return undefined;
    const { requestId } = (request ?? {}) as { readonly requestId?: string };
    const seen = { route, params, headers: call.headers, request, query, tenant: tenant.label, scope: call.scope, requestId };
    for (const script of scripts) {
      const taken = script.take(seen);
      if (taken !== undefined) return taken;
    }
    return undefined;
  }
}

function isWorkDone({ plan, moment }: Extract<TakenScript['action'], { kind: 'fault' }>): boolean {
  return moment === 'after' || needsRealReply(plan.kind);
}

function withHeaders(reply: ServerReply, headers: Readonly<Record<string, string>> | undefined): ServerReply {
  return headers === undefined ? reply : { ...reply, headers: { ...reply.headers, ...headers } };
}
