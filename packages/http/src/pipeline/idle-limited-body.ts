import type { TransportBody } from '../transport/transport.js';
import { oversizedBody } from '../transport/unusable-response.js';
import type { Attempt } from './attempt.js';

/** A streamed body: the attempt's deadline limits each wait for bytes, and `maxBytes` its size. */
export class IdleLimitedBody implements TransportBody {
  readonly #body: TransportBody;
  readonly #attempt: Attempt;
  readonly #maxBytes: number;

  constructor(body: TransportBody, attempt: Attempt, maxBytes: number) {
    this.#body = body;
    this.#attempt = attempt;
    this.#maxBytes = maxBytes;
  }

  async bytes(maxBytes = this.#maxBytes): Promise<Uint8Array> {
    this.#attempt.arm();
    try {
      return await this.#body.bytes(Math.min(maxBytes, this.#maxBytes));
    } catch (error) {
      throw this.#attempt.reason ?? error;
    } finally {
      this.#attempt.release();
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const iterator = this.#body[Symbol.asyncIterator]();
    let receivedBytes = 0;
    try {
      for (;;) {
        this.#attempt.arm();
        const { done, value } = await iterator.next();
        this.#attempt.suspend();
        if (done) return;
        receivedBytes += value.byteLength;
        if (receivedBytes > this.#maxBytes) throw oversizedBody(this.#maxBytes);
        yield value;
      }
    } catch (error) {
      throw this.#attempt.reason ?? error;
    } finally {
      this.#attempt.release();
      this.#body.cancel();
    }
  }

  cancel(): void {
    this.#attempt.release();
    this.#body.cancel();
  }
}
