import type { Transport, TransportRequest, TransportResponse } from '../../src/index.js';

type Answer = TransportResponse | Error | ((request: TransportRequest) => TransportResponse | Promise<TransportResponse>);

/** Answers from a list, one by one; the last one forever with `repeatLast`. Records the requests. */
export class ScriptedTransport implements Transport {
  readonly requests: TransportRequest[] = [];
  readonly recycled: string[] = [];
  closed = 0;
  readonly #answers: Answer[];
  readonly #repeatLast: boolean;

  constructor(answers: readonly Answer[], repeatLast = false) {
    this.#answers = [...answers];
    this.#repeatLast = repeatLast;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request);
    const answer = this.#repeatLast && this.#answers.length === 1 ? this.#answers[0] : this.#answers.shift();
    if (answer === undefined) throw new Error('The script has no answer left.');
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(request) : answer;
  }

  recycle(pool: string, origin: string): void {
    this.recycled.push(`${pool} ${origin}`);
  }

  async close(): Promise<void> {
    this.closed += 1;
  }

  headers(name: string): (string | undefined)[] {
    return this.requests.map((request) => request.headers[name]);
  }
}
