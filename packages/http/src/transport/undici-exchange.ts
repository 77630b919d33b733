import { AbortedError, TinkexError } from '@tinkex/types';
import type { Dispatcher } from 'undici';
import { abortedBy, onAbort } from '../abort/on-abort.js';
import { faultOf } from './fault.js';
import { ReceivedChunks } from './received-chunks.js';
import type { CancellationListener, RequestProgress, TransportBody, TransportRequest, TransportResponse } from './transport.js';
import { oversizedBody } from './unusable-response.js';
import { isClosedConnection } from './watched-connection.js';

/** Unread bytes beyond which the socket is paused until they are read. */
const HIGH_WATER_BYTES = 256 * 1024;
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** The faults of requests that met the end of a kept connection: see `repeatsOnClosedConnection`. */
export const closedConnections = new WeakSet<Error>();

/**
 * One request and its response on one connection: undici's handler, the response and its body in one object. It works on
 * `dispatch`, because `undici.request` builds a Node stream per response. docs/decisions/0201-http-hot-path.md
 */
export class UndiciExchange implements Dispatcher.DispatchHandler, TransportResponse, TransportBody, CancellationListener {
  status = 0;
  headers: Readonly<Record<string, string>> = NO_HEADERS;

  readonly #origin: string;
  readonly #request: TransportRequest;
  readonly #progress: RequestProgress | undefined;
  #resolve: ((response: TransportResponse) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #chunks = new ReceivedChunks();
  #maxBytes = Number.POSITIVE_INFINITY;
  #isCollecting = false;
  #isEnded = false;
  #error: Error | undefined;
  /** Wakes the reader that waits for bytes. */
  #wake: (() => void) | undefined;
  #unfollow: (() => void) | undefined;

  constructor(request: TransportRequest, origin: string, resolve: (response: TransportResponse) => void, reject: (error: Error) => void) {
    this.#request = request;
    this.#origin = origin;
    this.#progress = request.progress;
    this.#resolve = resolve;
    this.#reject = reject;
    if (this.#progress !== undefined) this.#progress.phase = 'connect';
    if (request.cancellation !== undefined) request.cancellation.listen(this);
    else if (request.signal !== undefined) this.#followSignal(request.signal);
  }

  /** True when the caller gave up before the request was handed over. */
  get isCancelled(): boolean {
    return this.#error !== undefined;
  }

  get body(): TransportBody {
    return this;
  }

  cancelled(reason: Error): void {
    if (this.#isEnded) return;
    this.#chunks.clear();
    this.#fail(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#error !== undefined) controller.abort(this.#error);
    else if (this.#progress !== undefined) this.#progress.phase = 'headers';
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    if (this.#progress !== undefined) this.#progress.phase = 'body';
    this.status = status;
    this.headers = plainHeaders(headers);
    this.#resolve?.(this);
    this.#resolve = undefined;
    this.#reject = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    if (this.#isCollecting) {
      if (this.#chunks.byteLength > this.#maxBytes) this.cancelled(oversizedBody(this.#maxBytes));
      return;
    }
    if (this.#chunks.byteLength >= HIGH_WATER_BYTES) controller.pause();
    this.#wake?.();
  }

  onResponseEnd(): void {
    this.#isEnded = true;
    this.#release();
    this.#wake?.();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // What has arrived before the fault is still good to a caller that reads chunk by chunk: a download continues after it.
    if (this.#isCollecting) this.#chunks.clear();
    const fault = faultOf(error, this.#origin);
    if (isClosedConnection(error, this.#controller !== undefined)) closedConnections.add(fault);
    this.#fail(fault);
  }

  bytes(maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    this.#isCollecting = true;
    this.#maxBytes = maxBytes;
    if (this.#chunks.byteLength > maxBytes || this.#announcedBytes() > maxBytes) {
      if (this.#isEnded) return Promise.reject(oversizedBody(maxBytes));
      this.cancelled(oversizedBody(maxBytes));
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    // A small body usually arrives in one packet with its headers.
    if (this.#isEnded) return Promise.resolve(this.#chunks.takeAll());
    return this.#resume().then(() => {
      if (this.#error !== undefined) throw this.#error;
      return this.#chunks.takeAll();
    });
  }

  /** The length of a body that is still to come. The response to HEAD has a length and no body. */
  #announcedBytes(): number {
    return this.#isEnded || this.#request.method === 'HEAD' ? 0 : Number(this.headers['content-length']);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          yield chunk;
          continue;
        }
        if (this.#error !== undefined) throw this.#error;
        if (this.#isEnded) return;
        await this.#resume();
      }
    } finally {
      this.cancel();
    }
  }

  cancel(): void {
    if (this.#isEnded || this.#error !== undefined) return;
    this.cancelled(new AbortedError({ message: 'The response was not read to its end.' }));
  }

  /** Waits for the next event. Listens before it resumes, because undici may deliver held data within `resume()`. */
  #resume(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#controller?.resume();
    });
  }

  #fail(error: Error): void {
    if (this.#isEnded || this.#error !== undefined) return;
    this.#error = error;
    this.#release();
    this.#reject?.(error);
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#wake?.();
  }

  #followSignal(signal: AbortSignal): void {
    const stop = (): void => this.cancelled(TinkexError.isInstance(signal.reason) ? signal.reason : abortedBy(signal));
    if (signal.aborted) stop();
    else this.#unfollow = onAbort(signal, stop);
  }

  #release(): void {
    if (this.#request.cancellation !== undefined) this.#request.cancellation.listen(undefined);
    else this.#unfollow?.();
  }
}

/** Undici's lower-case headers with repeated ones joined; the same object when nothing is repeated, which is nearly always. */
function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(', ');
  }
  return headers as Record<string, string>;
}
