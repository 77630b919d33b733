import { ServiceClient } from '@tinkex/clients';
import { createResponse, type Transport } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { BadRequestError, ConnectionError, NotFoundError, RequestFailedError } from '@tinkex/types';
import { parseJson } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { drive } from './support/drive.js';

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly connection_error?: boolean;
}

interface SubmitCase {
  readonly name: string;
  readonly input: { readonly prompt_tokens: number; readonly asample_responses: Answer[]; readonly poll_responses?: Answer[] };
  readonly expected: {
    readonly outcome: 'result' | 'error';
    readonly error?: string;
    readonly asample_seq_ids: number[];
    readonly sleeps: number[];
  };
  readonly expected_0_25?: SubmitCase['expected'];
}

const cases = readVectors('sampling-submit') as SubmitCase[];

/** The reference's error names in our tree. A poll that ends in 404 is a failed operation here. */
const errorClasses: Readonly<Record<string, new (...options: never[]) => Error>> = {
  BadRequestError,
  NotFoundError,
  RequestFailedError,
  ValueError: RequestFailedError,
};

/** A server made of two lists of answers; what the lists do not say succeeds. */
class CannedTransport implements Transport {
  readonly seqIds: unknown[] = [];
  readonly submittedAtMs: number[] = [];
  readonly #clock: VirtualClock;
  readonly #submissions: Answer[];
  readonly #polls: Answer[];

  constructor(clock: VirtualClock, { input }: SubmitCase) {
    this.#clock = clock;
    this.#submissions = [...input.asample_responses];
    this.#polls = [...(input.poll_responses ?? [])];
  }

  async send({ url, body }: Parameters<Transport['send']>[0]) {
    if (url.endsWith('/asample')) {
      this.seqIds.push((parseJson(body as string) as { seq_id: unknown }).seq_id);
      this.submittedAtMs.push(this.#clock.elapsedMs);
      return reply(this.#submissions.shift() ?? { status: 200, body: { request_id: 'req-1' } });
    }
    if (url.endsWith('/retrieve_future')) {
      return reply(this.#polls.shift() ?? { status: 200, body: { type: 'sample', sequences: [{ stop_reason: 'length', tokens: [1] }] } });
    }
    if (url.endsWith('/create_session')) return reply({ status: 200, body: { session_id: 's' } });
    if (url.endsWith('/create_sampling_session')) return reply({ status: 200, body: { sampling_session_id: 's:sample:0' } });
    return reply({ status: 200, body: {} });
  }

  async close() {
    // Nothing is held.
  }
}

function reply({ status = 200, body, connection_error }: Answer) {
  if (connection_error) throw new ConnectionError({ message: 'reset' });
  return createResponse({ status, body });
}

async function runCase(vector: SubmitCase, seqIdAfterLoss: 'same' | 'new') {
  const clock = new VirtualClock();
  const transport = new CannedTransport(clock, vector);
  await using service = new ServiceClient({
    baseUrl: 'http://vectors.test',
    apiKey: 'tml-vectors',
    transport,
    clock,
    random: () => 0.5,
    telemetry: false,
    heartbeatIntervalMs: 3_600_000,
  });
  const sampling = await service.createSamplingClient({ baseModel: 'm', retry: { seqIdAfterLoss } });
  const startMs = clock.elapsedMs;
  const prompt = Array.from({ length: vector.input.prompt_tokens }, (_, index) => index);
  const outcome = await drive(
    clock,
    sampling.sample({ prompt, samplingParams: { maxTokens: 1 } }).then(
      () => ({ kind: 'result' as const }),
      (error: unknown) => ({ kind: 'error' as const, error }),
    ),
  );
  return { outcome, transport, waitedMs: (transport.submittedAtMs.at(-1) ?? 0) - startMs };
}

describe('sampling submission, by the shared vectors', () => {
  it('finds the cases', () => {
    expect(cases).toHaveLength(15);
  });

  it.each(cases)('$name', async (vector) => {
    // Where the versions of the reference differ, the newer one has a defect that clients should avoid, by its page.
    const expected = vector.expected_0_25 ?? vector.expected;
    const { outcome, transport, waitedMs } = await runCase(vector, 'new');
    expect(transport.seqIds).toEqual(expected.asample_seq_ids);
    expect(outcome.kind).toBe(expected.outcome);
    if (outcome.kind === 'error') expect(outcome.error).toBeInstanceOf(errorClasses[expected.error ?? '']);
    // All waits of these cases lie before the last submission.
    expect(waitedMs).toBe(expected.sleeps.reduce((sum, seconds) => sum + seconds * 1000, 0));
  });

  it('by default repeats the same sequence ID after an expired future, and takes a new one only when that is lost too', async () => {
    const once = cases.find(({ name }) => name === 'promise-lost-is-resubmitted-with-a-new-seq-id');
    const twice = cases.find(({ name }) => name === 'promise-lost-twice');
    if (!once || !twice) throw new Error('The vectors have changed.');
    expect((await runCase(once, 'same')).transport.seqIds).toEqual([0, 0]);
    expect((await runCase(twice, 'same')).transport.seqIds).toEqual([0, 0, 1]);
  });
});
