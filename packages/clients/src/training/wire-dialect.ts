import { ApiStatusError, type WireFormat } from '@tinkex/types';

/** Statuses that may refuse the type of the body rather than its content. */
const TYPE_REFUSALS: ReadonlySet<number> = new Set([400, 415, 422]);

/**
 * Which wire format the server accepts for forward/backward bodies. With `auto` the first body is protobuf. If the server refuses it in a
 * way that can mean "unknown format", the same operation is sent once more as JSON. Only if JSON is accepted does the client switch, for
 * good. A server that has accepted protobuf once knows it, so its later refusals concern the data and surface unchanged.
 *
 * Nothing runs twice: a body is sent again only after a refusal, with the same sequence ID.
 */
export class WireDialect {
  #known: WireFormat | undefined;

  constructor(format: 'auto' | WireFormat) {
    this.#known = format === 'auto' ? undefined : format;
  }

  /** The format that the server is known to accept; undefined while that is open. */
  get known(): WireFormat | undefined {
    return this.#known;
  }

  /** Records that the server has accepted a body of this format. The first one decides. */
  accepted(format: WireFormat): void {
    this.#known ??= format;
  }

  /** Whether the refusal of a protobuf body may mean the format. Not if another submission has shown meanwhile that the server knows it. */
  mayRefuseFormat(error: unknown): error is ApiStatusError {
    return this.#known !== 'protobuf' && ApiStatusError.isInstance(error) && TYPE_REFUSALS.has(error.status);
  }

  /** The error to throw when the server has refused both formats, the JSON body with `error`. */
  explainRefusal(refusal: ApiStatusError, error: unknown): unknown {
    // A server known to accept JSON means its answer to the JSON body; one that may know protobuf means its first answer.
    if (this.#known === 'json' || !ApiStatusError.isInstance(error)) return error;
    refusal.message += ` (sent again as JSON, it was refused with status ${error.status}: ${error.message})`;
    return refusal;
  }
}
