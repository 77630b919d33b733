import type { ClientDynamicConfigResponse } from '@tinkex/types/wire';
import type { EndpointCaller } from '../calls/endpoint-caller.js';

/** Reports samples that have no waiter any more to a server that takes such reports: it stops working on them. In batches, one after the other. */
export class CancelQueue {
  readonly #calls: EndpointCaller;
  readonly #config: () => Pick<ClientDynamicConfigResponse, 'sampleCancelEnabled' | 'sampleCancelMaxBatchSize'> | undefined;
  readonly #requestIds = new Set<string>();
  #isRunning = false;

  /** @param config - The latest configuration; undefined for a server that has none. */
  constructor(calls: EndpointCaller, config: () => ClientDynamicConfigResponse | undefined) {
    this.#calls = calls;
    this.#config = config;
  }

  /** Cancels an accepted sample, unless the server does not take part. Does not wait. */
  add(requestId: string): void {
    if (this.#config()?.sampleCancelEnabled !== true) return;
    this.#requestIds.add(requestId);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Samples that are abandoned together belong in one batch.
    await Promise.resolve();
    while (this.#requestIds.size > 0) {
      const batch = [...this.#requestIds].slice(0, Math.max(this.#config()?.sampleCancelMaxBatchSize ?? 1, 1));
      for (const requestId of batch) this.#requestIds.delete(requestId);
      // A sample that cannot be canceled ends by itself. The failed requests are visible in the http events.
      await Promise.allSettled(batch.map((requestId) => this.#calls.call('cancelFuture', { body: { requestId } })));
    }
    this.#isRunning = false;
  }
}
