import { Pool } from 'undici';

/** How a run of many exchanges went. */
export interface LoadResult {
  readonly exchanges: number;
  readonly exchangesPerSecond: number;
  readonly errors: number;
}

/** What one worker does, over and over: `submit` gives the path and body of the poll that follows. */
export interface Exchange {
  readonly submit: (index: number) => { readonly path: string; readonly body: string };
  readonly poll: (answer: string) => { readonly path: string; readonly body: string };
}

const submitHeaders = {
  'content-type': 'application/json',
  accept: 'application/json',
  'x-api-key': 'tml-test-key',
  'x-idempotency-key': 'bench',
  'x-tinker-sampling-backpressure': '1',
};
const pollHeaders = {
  'content-type': 'application/json',
  accept: 'application/x-protobuf',
  'x-api-key': 'tml-test-key',
  'x-idempotency-key': 'bench',
  'x-tinker-request-iteration': '0',
  'x-tinker-request-type': 'Sample',
  'x-tinker-create-promise-roundtrip-time': '0.001',
};

/** Runs submit-and-poll exchanges with `concurrency` in flight for `seconds`, from index `first` on. */
export async function runLoad(
  origin: string,
  exchange: Exchange,
  concurrency: number,
  seconds: number,
  first: number,
): Promise<LoadResult> {
  const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });
  const endAt = performance.now() + seconds * 1000;
  let next = first;
  let done = 0;
  let errors = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < endAt) {
        const submit = exchange.submit(next++);
        const submitted = await pool.request({ method: 'POST', path: submit.path, headers: submitHeaders, body: submit.body });
        const poll = exchange.poll(await submitted.body.text());
        const polled = await pool.request({ method: 'POST', path: poll.path, headers: pollHeaders, body: poll.body });
        await polled.body.arrayBuffer();
        errors += submitted.statusCode === 200 && polled.statusCode === 200 ? 0 : 1;
        done += 1;
      }
    }),
  );
  const elapsed = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { exchanges: done, exchangesPerSecond: done / elapsed, errors };
}
