import { ApiStatusError, type WireFormat } from '@tinkex/types';

/** A refusal that may be about the type of the body and not about its content. */
const TYPE_REFUSALS: ReadonlySet<number> = new Set([400, 415, 422]);

/**
 * Which encoding the server takes for forward/backward bodies. With `auto` the first body goes out as protobuf. If the server
 * refuses it in a way that can mean "I do not speak this", the same operation is sent once more as JSON: only if JSON is
 * accepted does the client change over, for good. A server that has accepted protobuf once speaks it, so that its later
 * refusals are about the data and are shown as they are.
 *
 * Nothing runs twice: a body is re-encoded only after a refusal, with the same sequence number.
 */
export class WireDialect {
  #settled: 'protobuf' | 'json' | undefined;

  constructor(format: 'auto' | WireFormat) {
    this.#settled = format === 'auto' ? undefined : format;
  }

  /** The encoding known to work, or undefined while that is not known. */
  get settled(): 'protobuf' | 'json' | undefined {
    return this.#settled;
  }

  /** Sends by the encoding that works, finding it out on the way. */
  async send<T>(sendAs: (encoding: 'protobuf' | 'json') => Promise<T>): Promise<T> {
    if (this.#settled !== undefined) return sendAs(this.#settled);
    try {
      const answer = await sendAs('protobuf');
      this.#settled ??= 'protobuf';
      return answer;
    } catch (error) {
      if (!ApiStatusError.isInstance(error) || !TYPE_REFUSALS.has(error.status)) throw error;
      // Another submission may have settled it in the meantime: then this refusal is about the data.
      if (this.settled === 'protobuf') throw error;
      return await this.#tryJson(sendAs, error);
    }
  }

  async #tryJson<T>(sendAs: (encoding: 'protobuf' | 'json') => Promise<T>, refusal: ApiStatusError): Promise<T> {
    try {
      const answer = await sendAs('json');
      this.#settled ??= 'json';
      return answer;
    } catch (error) {
      // A server known to speak JSON means its refusal of the JSON body; one that may speak protobuf means its first answer.
      if (this.settled === 'json') throw error;
      if (ApiStatusError.isInstance(error)) {
        refusal.message += ` (sent again as JSON, it was refused with status ${error.status}: ${error.message})`;
        throw refusal;
      }
      throw error;
    }
  }
}
