const ENCODER = new TextEncoder();

/** A response of server-sent events. When the reader goes away, the generator returns. */
export function eventStreamResponse(texts: AsyncGenerator<string, void, undefined>): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(ENCODER.encode(value));
    },
    async cancel() {
      await texts.return();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } });
}

/** Waits for the first event, so that a failure until then still has its own status. */
export async function withFirst<T>(events: AsyncGenerator<T, void, undefined>): Promise<AsyncGenerator<T, void, undefined>> {
  const first = await events.next();
  return (async function* () {
    if (!first.done) yield first.value;
    yield* events;
  })();
}
