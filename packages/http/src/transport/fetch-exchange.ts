import { AbortedError, ConnectionError, TinkexError } from '@tinkex/types';
import { abortedBy, onAbort } from '../abort/on-abort.js';
import { faultOf } from './fault.js';
import { ReceivedChunks } from './received-chunks.js';
import type { CancellationListener, TransportBody, TransportRequest, TransportResponse } from './transport.js';
import { oversizedBody } from './unusable-response.js';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What `fetch` decodes by itself, and must not be decoded again. */
const DECODED_BY_FETCH = ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'];
/** Without it `fetch` asks for all encodings it knows. Decoding costs more than a fast network saves (docs/decisions/0203). */
const NO_ENCODING = { 'accept-encoding': 'identity' };

/** One request and its response through `fetch`. Ends when the body has been read, canceled or has failed. */
export class FetchExchange implements TransportBody, CancellationListener {
  readonly #request: TransportRequest;
  readonly #origin: string;
  readonly #onEnd: () => void;
  readonly #controller = new AbortController();
  #unfollow: (() => void) | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #error: Error | undefined;
  #isEnded = false;

  /** @param onEnd - Called once, when nothing of the exchange is open any more. */
  constructor(request: TransportRequest, origin: string, onEnd: () => void) {
    this.#request = request;
    this.#origin = origin;
    this.#onEnd = onEnd;
    if (request.progress !== undefined) request.progress.phase = 'headers';
  }

  async run(fetch: Fetch): Promise<TransportResponse> {
    this.#followCaller();
    const { method, url, headers, body, progress } = this.#request;
    try {
      if (this.#error !== undefined) throw this.#error;
      const response = await fetch(url, {
        method,
        headers: { ...NO_ENCODING, ...headers },
        redirect: 'manual',
        signal: this.#controller.signal,
        ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
      });
      if (response.type === 'opaqueredirect') throw new ConnectionError({ message: `${this.#origin} redirects, which browsers hide.` });
      if (progress !== undefined) progress.phase = 'body';
      this.#reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
      if (this.#reader === undefined) this.#end();
      return { status: response.status, headers: plainHeaders(response), body: this };
    } catch (error) {
      throw this.#fail(error);
    }
  }

  cancelled(reason: Error): void {
    if (this.#isEnded) return;
    this.#error = reason;
    this.#end();
    this.#controller.abort(reason);
  }

  async bytes(maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    const chunks = new ReceivedChunks();
    for await (const chunk of this) {
      chunks.push(chunk);
      if (chunks.byteLength > maxBytes) throw oversizedBody(maxBytes);
    }
    return chunks.takeAll();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (this.#error !== undefined) throw this.#error;
        if (this.#reader === undefined) return;
        const { done, value } = await this.#reader.read();
        if (done) {
          this.#end();
          return;
        }
        yield value;
      }
    } catch (error) {
      throw this.#fail(error);
    } finally {
      this.cancel();
    }
  }

  cancel(): void {
    this.cancelled(new AbortedError({ message: 'The response was not read to its end.' }));
  }

  /** A cancellation wins over what `fetch` makes of it. */
  #fail(error: unknown): Error {
    const fault = this.#error ?? faultOf(networkErrorOf(error, this.#origin), this.#origin);
    this.#error = fault;
    this.#end();
    return fault;
  }

  #followCaller(): void {
    const { cancellation, signal } = this.#request;
    if (cancellation !== undefined) {
      cancellation.listen(this);
    } else if (signal !== undefined) {
      const stop = (): void => this.cancelled(TinkexError.isInstance(signal.reason) ? signal.reason : abortedBy(signal));
      if (signal.aborted) stop();
      else this.#unfollow = onAbort(signal, stop);
    }
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#unfollow?.();
    this.#request.cancellation?.listen(undefined);
    this.#onEnd();
  }
}

/**
 * What happened below `fetch`: Node hides it in `cause`. Other runtimes quote the URL, whose query may be a signature; then only the origin stays.
 */
function networkErrorOf(error: unknown, origin: string): unknown {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const inner = cause instanceof Error ? cause : error;
  if (!(inner instanceof Error) || TinkexError.isInstance(inner) || !inner.message.includes('://')) return inner;
  return Object.assign(new Error(inner.message.replaceAll(/\w+:\/\/[^\s)"']+/g, origin)), { code: (inner as NodeJS.ErrnoException).code });
}

/** `fetch` hands out decoded bodies under the headers of the encoded ones. */
function plainHeaders(response: Response): Record<string, string> {
  const headers = Object.fromEntries(response.headers);
  const encodings = (headers['content-encoding'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  if (encodings.every((name) => DECODED_BY_FETCH.includes(name))) {
    delete headers['content-encoding'];
    delete headers['content-length'];
  }
  return headers;
}
