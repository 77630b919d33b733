import { type Clock, onAbort } from '@tinkex/http';
import type { Features, RunSummary, StreamUpdate } from '../api/run-views.js';
import type { RunRegistry } from './run-registry.js';

const ENCODER = new TextEncoder();
const PAUSE_MS = 500;
/** How many pauses without a change before a comment keeps the connection open. */
const QUIET_PAUSES = 20;

/** What {@link updateStream} needs. */
export interface UpdateStreamOptions {
  readonly registry: RunRegistry;
  readonly features: () => Features;
  readonly clock: Clock;
  /** Aborts when the browser or the server goes away. */
  readonly signal: AbortSignal;
}

/**
 * Server-sent events: all runs first, then twice a second those that changed. A browser reconnects by itself and gets all of them again, so nothing is lost and nothing
 * needs to be remembered.
 */
export function updateStream(options: UpdateStreamOptions): Response {
  const updates = readUpdates(options);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await updates.next();
      if (done) controller.close();
      else controller.enqueue(ENCODER.encode(value));
    },
    async cancel() {
      await updates.return();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}

async function* readUpdates({ registry, features, clock, signal }: UpdateStreamOptions): AsyncGenerator<string, void, undefined> {
  const sent = new Map<string, string>();
  let quiet = 0;
  let isFirst = true;
  while (!signal.aborted) {
    await registry.refresh();
    const update = changesSince(sent, registry, features(), clock.wallMs());
    if (isFirst || update.changed.length > 0 || update.removed.length > 0) {
      yield `${isFirst ? 'retry: 1000\n' : ''}data: ${JSON.stringify(update)}\n\n`;
      quiet = 0;
    } else if (++quiet >= QUIET_PAUSES) {
      yield ': still here\n\n';
      quiet = 0;
    }
    isFirst = false;
    await pause(clock, signal);
  }
}

function changesSince(sent: Map<string, string>, registry: RunRegistry, features: Features, atMs: number): StreamUpdate {
  const summaries = registry.runs().map((run) => run.summary(atMs));
  const changed: RunSummary[] = [];
  for (const summary of summaries) {
    const text = JSON.stringify(summary);
    if (sent.get(summary.id) === text) continue;
    sent.set(summary.id, text);
    changed.push(summary);
  }
  const present = new Set(summaries.map(({ id }) => id));
  const removed = [...sent.keys()].filter((id) => !present.has(id));
  for (const id of removed) sent.delete(id);
  return { atMs, features, changed, removed };
}

/** Waits for the next look, or until the reader is gone. */
function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      release();
      clock.clearTimeout(timer);
      resolve();
    };
    const release = onAbort(signal, end);
    const timer = clock.setTimeout(end, PAUSE_MS);
  });
}
