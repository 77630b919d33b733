import { systemClock } from '@tinkex/http/clock';
import { decompressZstd } from '../checks/decompress.js';
import { errorReply, type ServerReply, type ServerRequest } from '../requests/message.js';
import { Router } from '../routes/router.js';
import { VerificationError } from '../rules/rules.js';
import { answerFetch } from '../server/fetch-front.js';
import { MemoryConnections } from '../server/memory-connections.js';
import type { NodeFront } from '../server/node-front.js';
import type { ExchangeFolder } from './exchange-folder.js';
import { type ArrivedRequest, arrivedRequest, recordExchange } from './record-exchange.js';
import type { Recording } from './recording.js';
import type { Upstream } from './upstream.js';

/** A bound for clients that repeat what was not recorded. */
const MAX_MISSES = 1_000;

/** The parts of a {@link ReplayServer}. */
export interface ReplayServerParts {
  readonly folder: ExchangeFolder;
  readonly recording: Recording;
  /** Answers what the recording does not have. */
  readonly upstream: Upstream | undefined;
  readonly maxBodyBytes: number;
  readonly onDrift: ((text: string) => void) | undefined;
}

/** A server that records the answers of another one, or repeats them. Created by `openReplay()` or `startReplay()`. */
export class ReplayServer {
  /** @internal The calls that arrive without a socket. */
  readonly connections = new MemoryConnections(systemClock);
  readonly #folder: ExchangeFolder;
  readonly #recording: Recording;
  readonly #upstream: Upstream | undefined;
  readonly #maxBodyBytes: number;
  readonly #onDrift: ((text: string) => void) | undefined;
  readonly #router = new Router('');
  readonly #misses: string[] = [];
  readonly #failures: string[] = [];
  readonly #drift = new Set<string>();
  #front: NodeFront | undefined;
  #url = 'http://tinkex.test';
  #recorded = 0;
  #replayed = 0;
  #closing: Promise<void> | undefined;

  /** @internal Use `openReplay()` or `startReplay()`. */
  constructor(parts: ReplayServerParts) {
    this.#folder = parts.folder;
    this.#recording = parts.recording;
    this.#upstream = parts.upstream;
    this.#maxBodyBytes = parts.maxBodyBytes;
    this.#onDrift = parts.onDrift;
  }

  /** The base URL for clients. */
  get url(): string {
    return this.#url;
  }

  /** How many answers came from the upstream and were recorded. */
  get recorded(): number {
    return this.#recorded;
  }

  /** How many answers came from the recording. */
  get replayed(): number {
    return this.#replayed;
  }

  /** The requests that the recording has no answer to, in words; the first 1,000 of them. */
  get misses(): readonly string[] {
    return this.#misses;
  }

  /** Where the recorded traffic differs from the schemas of `@tinkex/types`, each once. */
  get drift(): readonly string[] {
    return [...this.#drift];
  }

  /** @internal Whether connections are refused. */
  get isRefusing(): boolean {
    return this.#closing !== undefined;
  }

  /** Throws a {@link VerificationError} that lists the requests without an answer, and exchanges that could not be written. */
  verify(): void {
    const problems = [...this.#misses, ...this.#failures];
    if (problems.length > 0) throw new VerificationError(problems);
  }

  /** Answers one fetch-style request. */
  handle(request: Request): Promise<Response> {
    return answerFetch(this, request);
  }

  /** @internal Answers a request without fetch objects. Never rejects. */
  async answer(raw: ServerRequest): Promise<ServerReply> {
    try {
      const { route } = this.#router.match(raw.method, raw.target);
      return await this.#answerArrived(arrivedRequest(raw, await this.#plainBody(raw), route));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#failures.push(`${raw.method} ${raw.target.split('?', 1)[0]}: ${reason}`);
      return errorReply(500, `The recording failed: ${reason}`);
    }
  }

  /** @internal Takes over a listening front. */
  listen(front: NodeFront, origin: string): void {
    this.#front = front;
    this.#url = origin;
  }

  /** Ends connections and the listener. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #answerArrived(request: ArrivedRequest): Promise<ServerReply> {
    const reply = await this.#recording.take(request);
    if (reply !== undefined) {
      this.#replayed += 1;
      return reply;
    }
    return this.#upstream === undefined ? this.#miss(request) : this.#record(this.#upstream, request);
  }

  async #record(upstream: Upstream, request: ArrivedRequest): Promise<ServerReply> {
    const number = this.#folder.nextNumber();
    const { isFromUpstream, ...reply } = await upstream.send(request.raw, request.route);
    if (!isFromUpstream) return reply;
    const { exchange, bytes } = recordExchange(request, reply);
    // Written before the client hears of it: what a client has seen can be replayed.
    await this.#folder.write(number, exchange, bytes);
    this.#recorded += 1;
    for (const text of exchange.drift ?? []) {
      if (!this.#drift.has(text)) this.#onDrift?.(text);
      this.#drift.add(text);
    }
    return reply;
  }

  #miss(request: ArrivedRequest): ServerReply {
    const text = this.#recording.explainMiss(request);
    if (this.#misses.length < MAX_MISSES) this.#misses.push(text);
    return errorReply(400, `${text}. Record it with --record-on-miss UPSTREAM, or record the whole session again.`);
  }

  /** A body that is not what its header says is taken as it is: the upstream judges it. */
  async #plainBody({ headers, body }: ServerRequest): Promise<Uint8Array> {
    if (headers['content-encoding'] !== 'zstd') return body;
    try {
      return await decompressZstd(body, this.#maxBodyBytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') throw error;
      return body;
    }
  }

  async #close(): Promise<void> {
    this.connections.cut();
    await this.#front?.close();
    await this.#upstream?.close();
  }
}
