import { type Clock, normalizeBaseUrl } from '@tinkex/http';
import { ApiStatusError, TinkexError, type WireFormat } from '@tinkex/types';

/** Statuses that may refuse the type of the body rather than its content. Some servers fail (500) on a body that they cannot read. */
const TYPE_REFUSALS: ReadonlySet<number> = new Set([400, 415, 422, 500]);
/** Statuses that can only mean that the server does not have this format, or the endpoint of it: it has not read the body. */
const NO_SUCH_FORM: ReadonlySet<number> = new Set([404, 405, 415]);
const MAX_REMEMBERED = 256;

/** The format that each base URL has accepted last. By clock, so that tests with their own clocks share nothing. */
const accepted = new WeakMap<Clock, Map<string, WireFormat>>();

/**
 * Which wire format the server accepts for forward/backward bodies. With `auto` the first body is protobuf. If the server refuses it in a
 * way that can mean "unknown format", the same operation is sent once more as JSON. Only a format that was accepted is kept: by this client
 * for good, and by later clients of the same base URL in this process as the one to try first. A server that has accepted a format once
 * knows it, so its later refusals concern the data and surface unchanged.
 *
 * Nothing runs twice: a body is sent again with the same sequence ID, which the server executes once.
 */
export class WireDialect {
  readonly #remembered: Map<string, WireFormat>;
  readonly #baseUrl: string;
  #known: WireFormat | undefined;

  constructor(format: WireFormat | 'auto', baseUrl: string, clock: Clock) {
    this.#known = format === 'auto' ? undefined : format;
    this.#baseUrl = normalizeBaseUrl(baseUrl);
    this.#remembered = accepted.get(clock) ?? new Map();
    accepted.set(clock, this.#remembered);
  }

  /** The format that the server is known to accept; undefined while that is open. */
  get known(): WireFormat | undefined {
    return this.#known;
  }

  /** The formats in the order in which to try them. */
  get candidates(): readonly [WireFormat, WireFormat] {
    return (this.#known ?? this.#remembered.get(this.#baseUrl)) === 'json' ? ['json', 'protobuf'] : ['protobuf', 'json'];
  }

  /** Records that the server has accepted a body of this format. The first one decides. */
  accepted(format: WireFormat): void {
    if (this.#known !== undefined) return;
    this.#known = format;
    // Set again, it is the newest; the oldest goes.
    this.#remembered.delete(this.#baseUrl);
    this.#remembered.set(this.#baseUrl, format);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }

  /** Whether a refusal may mean the format. Not if another submission has shown meanwhile that the server knows it. */
  mayRefuse(format: WireFormat, error: unknown): error is ApiStatusError {
    return this.#known !== format && ApiStatusError.isInstance(error) && TYPE_REFUSALS.has(error.status);
  }

  /** The error to throw when the server has taken neither format: `refusal` to the first, then `error` to the second. */
  explainRefusal([first, second]: readonly [WireFormat, WireFormat], refusal: ApiStatusError, error: unknown): unknown {
    // A server known to accept the second format means its answer to that body; one that may know the first means its first answer.
    if (this.#known === second || !ApiStatusError.isInstance(error)) return error;
    // A refusal with a reason says more than a failure without one.
    const isSecond = refusal.status >= 500 && error.status < 500;
    const [shown, shownFormat, other, otherFormat] = isSecond ? [error, second, refusal, first] : [refusal, first, error, second];
    shown.message +=
      ` (sent as ${NAMES[shownFormat]}; as ${NAMES[otherFormat]} it was answered with status ${other.status}: ${other.message}.` +
      ` If you know which one this server takes, set wireFormat: '${first}' or '${second}'.)`;
    return shown;
  }
}

/** Whether the server has answered that it does not know the format. */
export function isUnknownForm(error: unknown): boolean {
  return ApiStatusError.isInstance(error) && NO_SUCH_FORM.has(error.status);
}

/** Whether a repetition may succeed: the answer says nothing about the format. */
export function isTemporary(error: unknown): boolean {
  return TinkexError.isInstance(error) && error.isRetryable;
}

const NAMES: Readonly<Record<WireFormat, string>> = { protobuf: 'protobuf', json: 'JSON' };
