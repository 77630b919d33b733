import type { Codec } from '@tinkex/types/wire';
import { endpoints, isPlainObject } from '@tinkex/types/wire';
import type { FaultKind, FaultMoment } from '../faults/faults.js';
import type { RouteName } from '../routes/route-types.js';
import type { Script, ScriptedFailure } from '../script/script.js';
import { ControlError } from './control-error.js';

/** What a script does, as JSON. Exactly one of `reply`, `result`, `fail`, `fault` and `pass`. */
export interface ScriptRequest {
  readonly route: RouteName;
  /** Fields other than `status`, `body` and `headers` are those of an error: `detail`, `retryAfterMs`, `retryAfter`, `shouldRetry`, `queueState` … */
  readonly reply?:
    | ({
        readonly status: number;
        /** Sent as it is, in the names of the wire. A text is sent as text. */
        readonly body?: unknown;
        readonly headers?: Readonly<Record<string, string>> | undefined;
      } & Readonly<Record<string, unknown>>)
    | undefined;
  /** The result of the operation, in the names of the wire. */
  readonly result?: unknown;
  readonly fail?: ScriptedFailure | undefined;
  readonly fault?:
    | {
        readonly kind: FaultKind;
        readonly moment?: FaultMoment | undefined;
        readonly dripBytes?: number | undefined;
        readonly dripMs?: number | undefined;
      }
    | undefined;
  /** Lets the calls through, with more headers on the replies. */
  readonly pass?: { readonly headers?: Readonly<Record<string, string>> | undefined } | undefined;
  /** How many calls it takes. Default: all, at least one. */
  readonly times?: number | undefined;
  readonly delayMs?: number | undefined;
  /** Takes only polls of this future. */
  readonly requestId?: string | undefined;
  /** Where the test created it: the complaint about an unused script names the place. */
  readonly createdAt?: string | undefined;
}

const ACTIONS = ['reply', 'result', 'fail', 'fault', 'pass'] as const;
const OTHER_FIELDS = ['route', 'times', 'delayMs', 'requestId', 'createdAt'];

/** Turns the JSON of a script into a script. Throws a `ControlError` or a `RangeError` for JSON that is not one. */
export function addScript(json: unknown, on: (route: RouteName) => Script): Script {
  if (!isPlainObject(json)) throw new ControlError(400, 'A script is a JSON object.');
  const unknown = Object.keys(json).filter((name) => !OTHER_FIELDS.includes(name) && !(ACTIONS as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new ControlError(400, `A script has no field ${unknown.join(', ')}. Known: ${[...OTHER_FIELDS, ...ACTIONS].join(', ')}.`);
  const chosen = ACTIONS.filter((name) => json[name] !== undefined);
  if (chosen.length !== 1)
    throw new ControlError(400, `A script has exactly one of ${ACTIONS.join(', ')}, got ${chosen.join(', ') || 'none'}.`);
  const request = json as unknown as ScriptRequest;
  const act = actionOf(request);
  const script = on(request.route);
  act(script);
  if (request.requestId !== undefined) script.forRequestId(request.requestId);
  if (request.delayMs !== undefined) script.delay(request.delayMs);
  if (request.times !== undefined) script.times(request.times);
  script.createdAt = request.createdAt;
  return script;
}

function actionOf(request: ScriptRequest): (script: Script) => void {
  if (request.reply !== undefined) return replyAction(request.reply);
  if (request.fail !== undefined) {
    const { fail } = request;
    return (script) => script.fail(fail);
  }
  if (request.fault !== undefined) {
    const { kind, ...options } = request.fault;
    return (script) => script.fault(kind, options);
  }
  if (request.pass !== undefined) {
    const { headers } = request.pass;
    return (script) => script.pass(headers);
  }
  const value = decodedResult(request.route, request.result);
  return (script) => script.result(value as never);
}

function replyAction(reply: NonNullable<ScriptRequest['reply']>): (script: Script) => void {
  const { status, body, headers, ...fields } = reply;
  if (status < 300) {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return (script) => script.reply(status as 200, text as never, headers);
  }
  const content = isPlainObject(body) ? { ...body, ...fields } : (body ?? fields);
  return (script) => script.reply(status as 500, content as never, headers);
}

function decodedResult(route: RouteName, result: unknown): unknown {
  const codec = Object.hasOwn(endpoints, route) ? (endpoints[route] as { readonly result?: Codec<unknown> }).result : undefined;
  if (codec === undefined) throw new ControlError(400, `${JSON.stringify(route)} is not a route with a result; script its reply instead.`);
  return codec.decode(result);
}
