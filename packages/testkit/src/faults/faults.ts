import type { Clock } from '@tinkex/http';
import { pause } from '../clock/server-clock.js';
import { errorReply, jsonReply, type ServerReply } from '../requests/message.js';
import { nearest } from '../routes/nearest.js';
import type { RouteName } from '../routes/route-types.js';

/** How a reply reaches the client: how much of it, in which pieces, and how it ends. This is all that the fronts know about faults. */
export interface Delivery {
  /** How much of the status line and the headers is sent. With less than `whole` there is no body. */
  readonly head: 'none' | 'half' | 'whole';
  /** The part of the body that is sent. */
  readonly body: Uint8Array;
  /** What `Content-Length` promises. */
  readonly contentLength: number;
  /** The size of the pieces of the body. */
  readonly pieceBytes: number;
  /** The pause between two pieces, on the server's clock. */
  readonly pauseMs: number;
  /** After the body: an orderly reply, an orderly end of the connection, a TCP reset, one of all connections, or silence on an open one. */
  readonly end: 'complete' | 'close' | 'reset' | 'reset-all' | 'stall';
}

/** What a fault changes in the delivery of a body. */
export type SocketFault = (body: Uint8Array, plan: FaultPlan) => Pick<Delivery, 'head' | 'end'> & Partial<Delivery>;

const EMPTY = new Uint8Array(0);

/**
 * Every fault of the socket, each in one entry. A fault whose delivery is `complete` damages a real reply, so the server always does the
 * work first; the others can also strike before it.
 */
const SOCKET_FAULTS = socketFaults({
  /** The connection ends without a byte of reply. */
  close: () => ({ head: 'none', end: 'close' }),
  /** The same with a TCP reset. */
  reset: () => ({ head: 'none', end: 'reset' }),
  /** A TCP reset of every connection to the server at the same time. */
  'reset-all': () => ({ head: 'none', end: 'reset-all' }),
  /** A reset in the middle of the status line and headers. */
  'reset-headers': () => ({ head: 'half', end: 'reset' }),
  /** The headers and half of the body, then a reset. */
  'reset-body': (body) => ({ head: 'whole', body: firstHalf(body), end: 'reset' }),
  /** No byte of reply, ever; the connection stays open. */
  stall: () => ({ head: 'none', end: 'stall' }),
  /** The headers and half of the body, then nothing. */
  'stall-body': (body) => ({ head: 'whole', body: firstHalf(body), end: 'stall' }),
  /** The body in small pieces with pauses. */
  drip: (body, { dripBytes = 16, dripMs = 5 }) => ({ head: 'whole', body, pieceBytes: dripBytes, pauseMs: dripMs, end: 'complete' }),
  /** Less body than `Content-Length` promises, then an orderly end. */
  truncate: (body) => ({ head: 'whole', body: firstHalf(body), end: 'close' }),
  /** A whole reply whose body no decoder accepts. */
  corrupt: (body) => ({ head: 'whole', body: body.length === 0 ? Uint8Array.of(0xff) : body.map((byte) => byte ^ 0xff), end: 'complete' }),
});

/** Keeps the names and not what each entry returns: users of older compilers could not read that in our declarations. */
function socketFaults<Kind extends string>(faults: Readonly<Record<Kind, SocketFault>>): Readonly<Record<Kind, SocketFault>> {
  return faults;
}

/** Every reply that chaos can give in place of the server's. */
const STATUS_FAULTS = {
  /** The empty 400 of an edge proxy. */
  'status-400-blank': () => ({ status: 400, headers: {}, body: '' }),
  'status-402': () => errorReply(402, 'Chaos: payment required'),
  /** For a poll, a try-again answer. */
  'status-408': (route) =>
    route === 'retrieveFuture' ? jsonReply(408, { type: 'try_again', queue_state: 'active' }) : errorReply(408, 'Chaos: request timeout'),
  /** Only for a repeat: the reply to the try before was lost after the work was done. */
  'status-409': () => errorReply(409, 'Chaos: this has been requested already'),
  'status-410': () => errorReply(410, 'Chaos: gone'),
  'status-429': () => errorReply(429, 'Chaos: too many requests', { 'retry-after-ms': '5' }),
  'status-500': () => errorReply(500, 'Chaos: internal server error'),
  'status-503': () => errorReply(503, 'Chaos: service unavailable'),
} as const satisfies Readonly<Record<string, (route: RouteName) => ServerReply>>;

/** What can go wrong with a reply on the socket. The testing guide explains each kind. */
export type FaultKind = keyof typeof SOCKET_FAULTS;

/** A reply that chaos makes up in place of the server's. `status-400-blank` is the empty 400 of an edge proxy. */
export type ChaosStatus = keyof typeof STATUS_FAULTS;

/** What chaos can do to a call. */
export type ChaosKind = FaultKind | ChaosStatus;

/** Every {@link FaultKind}. */
export const FAULT_KINDS: readonly FaultKind[] = Object.keys(SOCKET_FAULTS) as FaultKind[];

/** Every {@link ChaosKind}. */
export const CHAOS_KINDS: readonly ChaosKind[] = [...FAULT_KINDS, ...(Object.keys(STATUS_FAULTS) as ChaosStatus[])];

/** Whether the server does the work before the fault strikes: `before` loses the request, `after` loses only the reply. */
export type FaultMoment = 'before' | 'after';

/** A fault to apply to one reply. */
export interface FaultPlan {
  readonly kind: FaultKind;
  /** `drip`: bytes per piece. Default 16. */
  readonly dripBytes?: number | undefined;
  /** `drip`: the pause between pieces, on the server's clock. Default 5. */
  readonly dripMs?: number | undefined;
}

/** The entry of a fault. Throws a `RangeError` for a kind that does not exist. */
export function requireFault(kind: FaultKind): SocketFault {
  if (Object.hasOwn(SOCKET_FAULTS, kind)) return SOCKET_FAULTS[kind];
  const meant = nearest(String(kind), FAULT_KINDS);
  throw new RangeError(`There is no fault ${JSON.stringify(kind)}; did you mean ${meant}? Choose one of ${FAULT_KINDS.join(', ')}.`);
}

/** Throws a `RangeError` that suggests the nearest kind for one that does not exist. */
export function requireChaosKind(kind: ChaosKind): void {
  if (CHAOS_KINDS.includes(kind)) return;
  throw new RangeError(`There is no kind of chaos ${JSON.stringify(kind)}; did you mean ${nearest(String(kind), CHAOS_KINDS)}?`);
}

/** How a front delivers the body of a reply with this fault. */
export function planDelivery(body: Uint8Array, plan: FaultPlan): Delivery {
  const changes = requireFault(plan.kind)(body, plan);
  const sent = changes.body ?? EMPTY;
  // A reply that breaks off must promise more than it sends, even when its body is empty.
  const contentLength = changes.end === 'complete' ? sent.length : Math.max(body.length, 2);
  return { contentLength, pieceBytes: Math.max(1, sent.length), pauseMs: 0, ...changes, body: sent };
}

/** The pieces of a delivery's body, with the pauses between them. */
export async function* deliveredPieces({ body, pieceBytes, pauseMs }: Delivery, clock: Clock): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < body.length; offset += pieceBytes) {
    if (offset > 0) await pause(clock, pauseMs);
    yield body.subarray(offset, offset + pieceBytes);
  }
}

/** What a call gets that a chaos kind strikes: a made-up reply, or `reply` with a damaged delivery. */
export function chaosReply(kind: ChaosKind, route: RouteName, reply: ServerReply | undefined): ServerReply {
  return isStatusFault(kind) ? STATUS_FAULTS[kind](route) : faultyReply({ kind }, reply);
}

/** A reply whose delivery is damaged. Without `reply` the request was lost, and the pieces that are sent come from an error reply. */
export function faultyReply(plan: FaultPlan, reply: ServerReply | undefined): ServerReply {
  return { ...(reply ?? errorReply(503, 'This request was lost on purpose')), fault: plan };
}

/** Whether a kind damages a whole reply, so that there must be one. */
export function needsRealReply(kind: ChaosKind): boolean {
  return !isStatusFault(kind) && planDelivery(EMPTY, { kind }).end === 'complete';
}

function isStatusFault(kind: ChaosKind): kind is ChaosStatus {
  return Object.hasOwn(STATUS_FAULTS, kind);
}

function firstHalf(body: Uint8Array): Uint8Array {
  return body.subarray(0, body.length >> 1);
}
