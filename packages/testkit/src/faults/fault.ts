/**
 * What can go wrong between a finished request and a received reply, at the level of the socket.
 *
 * - `close`: the connection ends without a byte of reply.
 * - `reset`: the same, with a TCP reset.
 * - `reset-headers`: a reset in the middle of the status line and headers.
 * - `reset-body`: the headers and half of the body, then a reset.
 * - `stall`: no byte of reply, ever; the connection stays open.
 * - `stall-body`: the headers and half of the body, then nothing.
 * - `drip`: the body in small pieces with pauses.
 * - `truncate`: less body than `Content-Length` promises, then an orderly end.
 * - `corrupt`: a whole reply whose body bytes are damaged.
 */
export type FaultKind = 'close' | 'reset' | 'reset-headers' | 'reset-body' | 'stall' | 'stall-body' | 'drip' | 'truncate' | 'corrupt';

/** Every {@link FaultKind}. */
export const faultKinds: readonly FaultKind[] = [
  'close',
  'reset',
  'reset-headers',
  'reset-body',
  'stall',
  'stall-body',
  'drip',
  'truncate',
  'corrupt',
];

/**
 * Whether the server does the work before the fault strikes: `before` = the request is lost, `after` = the work is done and
 * only its reply is lost.
 */
export type FaultMoment = 'before' | 'after';

/** A fault to apply to one reply. */
export interface FaultPlan {
  readonly kind: FaultKind;
  /** `drip`: bytes a piece. Default 16. */
  readonly dripBytes?: number | undefined;
  /** `drip`: pause between pieces on the server's clock. Default 5. */
  readonly dripMs?: number | undefined;
}

/** Damages a body so that no decoder accepts it, whatever its length. */
export function corrupted(body: string | Uint8Array): Uint8Array {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body);
  for (let index = 0; index < bytes.length; index++) bytes[index] = (bytes[index] ?? 0) ^ 0xff;
  return bytes.length === 0 ? Uint8Array.of(0xff) : bytes;
}
