import type { Clock } from '@tinkex/http';
import { pause } from '../clock/machine-clock.js';
import { type Chaos, type ChaosKind, isSocketFault } from '../faults/chaos.js';
import { chaosReply } from '../faults/chaos-reply.js';
import type { FaultMoment, FaultPlan } from '../faults/fault.js';
import { operationIdentity } from '../faults/operation-identity.js';
import { errorReply, type ServerReply } from '../requests/message.js';
import type { RequestContext } from '../requests/request-context.js';
import type { RouteName } from '../routes/route-types.js';
import { Gate, type GatePlace } from '../script/gate.js';
import type { TakenScript } from '../script/script.js';
import { ScriptBook } from '../script/script-book.js';
import { scriptedReply } from '../script/scripted-reply.js';
import { skipRefused } from './refused-submission.js';

/** What a test has set up between a request and its operation: chaos, gates, scripts. */
export class Interventions {
  readonly scripts = new ScriptBook();
  readonly #clock: Clock;
  readonly #gates: Gate[] = [];
  #chaos: Chaos | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set chaos(chaos: Chaos | undefined) {
    this.#chaos = chaos;
  }

  addGate(route: RouteName, place: GatePlace): Gate {
    const gate = new Gate(route, place);
    this.#gates.push(gate);
    return gate;
  }

  gateAt(route: RouteName, place: GatePlace): Gate | undefined {
    return this.#gates.findLast((gate) => gate.route === route && gate.place === place);
  }

  /** Nothing was set up for this route. */
  isQuiet(route: RouteName): boolean {
    return this.#chaos === undefined && !this.scripts.has(route) && !this.#gates.some((gate) => gate.route === route);
  }

  /** Lets every held call go and forgets scripts, gates and chaos. */
  clear(): void {
    for (const gate of this.#gates) gate.open();
    this.#gates.length = 0;
    this.scripts.clear();
    this.#chaos = undefined;
  }

  /** Takes a call through chaos, gates and scripts to its operation, or to what they put in its place. */
  async play(context: RequestContext, run: () => ServerReply | Promise<ServerReply>): Promise<ServerReply> {
    const { route, raw } = context;
    const decision = this.#chaos?.decide(route, operationIdentity(context));
    if (decision !== undefined && decision.delayMs > 0) await pause(this.#clock, decision.delayMs);
    const kind = decision?.kind;
    if (kind !== undefined) context.call.fault = kind;
    if (kind !== undefined && decision?.moment === 'before' && !needsRealReply(kind)) return struck(kind, route, undefined);
    await this.gateAt(route, 'request')?.hold(raw.onAbort?.bind(raw));
    const reply = await this.#perform(context, run);
    await this.gateAt(route, 'reply')?.hold(raw.onAbort?.bind(raw));
    return kind === undefined ? reply : struck(kind, route, reply);
  }

  async #perform(context: RequestContext, run: () => ServerReply | Promise<ServerReply>): Promise<ServerReply> {
    const taken = this.#take(context);
    if (taken !== undefined && taken.delayMs > 0) await pause(this.#clock, taken.delayMs);
    switch (taken?.action.kind) {
      case 'reply': {
        const reply = await scriptedReply(taken.action, taken.call);
        skipRefused(context, reply.status);
        return reply;
      }
      case 'fault':
        return faulted(context, taken.action.plan, taken.action.moment, run);
      case 'result':
      case 'fail':
        context.override = { action: taken.action, call: taken.call };
        return run();
      default:
        return run();
    }
  }

  #take({ route, params, call, tenant, request, query }: RequestContext): TakenScript | undefined {
    if (!this.scripts.has(route)) return undefined;
    const { requestId } = (request ?? {}) as { readonly requestId?: string | undefined };
    return this.scripts.take({
      route,
      params,
      headers: call.headers,
      request,
      query,
      tenant: tenant.label,
      requestId,
    });
  }
}

async function faulted(
  context: RequestContext,
  plan: FaultPlan,
  moment: FaultMoment,
  run: () => ServerReply | Promise<ServerReply>,
): Promise<ServerReply> {
  context.call.fault = plan.kind;
  const reply = moment === 'after' || needsRealReply(plan.kind) ? await run() : lostRequest();
  return { ...reply, fault: plan };
}

function struck(kind: ChaosKind, route: RouteName, reply: ServerReply | undefined): ServerReply {
  return isSocketFault(kind) ? { ...(reply ?? lostRequest()), fault: { kind } } : chaosReply(kind, route);
}

/** These spoil a reply but let it through, so there must be one. */
function needsRealReply(kind: ChaosKind): boolean {
  return kind === 'drip' || kind === 'corrupt';
}

/** What a reply to a request that was never handled is made of, where pieces of one are sent. */
function lostRequest(): ServerReply {
  return errorReply(503, 'This request was lost on purpose');
}
