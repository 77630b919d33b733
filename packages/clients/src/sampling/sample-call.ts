import { elapsedMs, hasSubscribers, publish } from '@tinkex/http';
import { samplingRetryReport } from '@tinkex/telemetry/reporter';
import {
  FutureExpiredError,
  type ModelInput,
  RequestFailedError,
  type SampleResponse,
  type SamplingCallEvent,
  TinkexError,
} from '@tinkex/types';
import { estimatePromptBytes, type UntypedApiFuture } from '@tinkex/types/wire';
import { ApiFuture } from '../futures/api-future.js';
import type { PollScope } from '../futures/poller.js';
import { RESULT_DECODERS } from '../futures/result-decoders.js';
import { RunningCall } from '../futures/running-call.js';
import type { SessionPoller } from '../futures/session-poller.js';
import type { CallOptions } from '../runtime/call-options.js';
import type { Startable } from './admission.js';
import type { SubmissionCount } from './retries.js';
import { checkCount, checkHonored, checkPromptScores, withSequenceIds } from './sample-checks.js';
import {
  alignPromptLogprobs,
  copySettings,
  promptTokenCount,
  type SampleInput,
  type SampleSettings,
  toModelInput,
} from './sample-input.js';
import type { Sampler } from './sampler.js';

/** What a kind of sampling call makes of its response. */
export interface SampleKind<T> {
  readonly finish: (response: SampleResponse) => T;
  /** Whether the server's flag against retries of `sample` does not apply. */
  readonly isAlwaysRetried: boolean;
  /** Whether the samples are what the caller wants: none may be missing then. */
  readonly hasSamples: boolean;
}

/** Starts one sampling call. Copies the input now: callers may change and reuse their objects while the call is queued. */
export function startSample<T>(sampler: Sampler, input: SampleInput, options: CallOptions, kind: SampleKind<T>): ApiFuture<T> {
  const copied = options.headers === undefined ? options : { ...options, headers: { ...options.headers } };
  const call = new RunningCall<T>(sampler.runtime, 'Sample', copied);
  try {
    const prompt = toModelInput(input.prompt);
    const settings = copySettings(input, sampler.recordsStabilityInfo);
    checkPromptScores(settings, prompt);
    new SampleCall(sampler, call, prompt, settings, kind).begin();
  } catch (error) {
    call.reject(error);
  }
  return ApiFuture.of(call.core);
}

/** One sampling call: queue, submission, polling, retries, event. An object without closures while queued: there may be tens of thousands. */
class SampleCall<T> implements Startable {
  readonly #sampler: Sampler;
  readonly #call: RunningCall<T>;
  readonly #prompt: ModelInput;
  readonly #settings: SampleSettings;
  readonly #kind: SampleKind<T>;
  /** Taken by the first attempt and kept by the others. */
  #seqId: number | bigint | undefined;
  #requestId: string | undefined;
  /** The request whose result was lost last. */
  #lostRequestId: string | undefined;
  /** What the session's poller counts this call as. */
  #sessionCall: number | undefined;
  #failures = 0;

  constructor(sampler: Sampler, call: RunningCall<T>, prompt: ModelInput, settings: SampleSettings, kind: SampleKind<T>) {
    this.#sampler = sampler;
    this.#call = call;
    this.#prompt = prompt;
    this.#settings = settings;
    this.#kind = kind;
  }

  /** Starts now if there is room, else joins the queue. */
  begin(): void {
    const { queue } = this.#sampler;
    this.#call.throwIfEnded();
    if (queue.tryEnter()) this.start();
    else {
      queue.join(this);
      // Closing the client admits every call, to fail there.
      this.#call.requestSignal?.addEventListener('abort', () => {
        if (queue.remove(this)) this.#call.reject(this.#call.failure);
      });
    }
  }

  /** Not an async function: each pending call would hold its frame. */
  start(): void {
    this.#sessionCall = this.#sampler.sessionPoller?.beginCall();
    this.#sample().then(
      (response) => this.#succeed(response),
      (error: unknown) => this.#fail(error),
    );
  }

  #succeed(response: SampleResponse): void {
    let value: T;
    try {
      value = this.#kind.finish(response);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (hasSubscribers('tinkex:sampling:call')) this.#publish(response, undefined);
    this.#leave();
    this.#call.resolve(value);
  }

  #fail(error: unknown): void {
    // Requests see a time limit as an abort like any other; the event has the reason that the future shows.
    if (hasSubscribers('tinkex:sampling:call')) this.#publish(undefined, this.#call.explain(error));
    this.#leave();
    this.#call.reject(error);
  }

  #leave(): void {
    const { queue, sessionPoller } = this.#sampler;
    if (this.#sessionCall !== undefined) sessionPoller?.endCall(this.#sessionCall);
    queue.leave();
  }

  #sample(): Promise<SampleResponse> {
    const { retries, sampling } = this.#sampler;
    if (retries === undefined) return this.#attempt(this.#call, undefined);
    const isRetried = this.#kind.isAlwaysRetried || !sampling.config.sampleNoRetries;
    if (!isRetried) return retries.runOnce((submissions) => this.#attempt(this.#call, submissions));
    return retries.run(
      (signal, submissions) => this.#attempt({ signal, requestSignal: signal }, submissions),
      this.#call.signal,
      (error, isFollowed) => this.#noteFailure(error, isFollowed),
    );
  }

  /** Submits the request and waits for its result. */
  async #attempt(scope: PollScope, submissions: SubmissionCount | undefined): Promise<SampleResponse> {
    const { clock, lifetime } = this.#sampler.runtime;
    const startedAt = clock.monotonicMs();
    const { requestId, sampleSequenceIds } = await this.#submit(scope, submissions);
    const roundtripMs = elapsedMs(clock, startedAt);
    this.#requestId = requestId;
    this.#call.accept([requestId]);
    try {
      const response = withSequenceIds(await this.#wait(requestId, roundtripMs, scope), sampleSequenceIds);
      const aligned = response.promptLogprobs === undefined ? response : alignPromptLogprobs(response, promptTokenCount(this.#prompt));
      checkHonored(this.#settings, aligned);
      if (this.#kind.hasSamples) checkCount(this.#settings, aligned);
      return aligned;
    } catch (error) {
      // The caller has given up. Closing the client ends everything, these requests too.
      if (scope.signal.aborted && !lifetime.isClosed) this.#sampler.sampling.cancels.add(requestId);
      throw error;
    }
  }

  #wait(requestId: string, roundtripMs: number, scope: PollScope): Promise<SampleResponse> {
    const { sessionPoller } = this.#sampler;
    // A server that answers with the lost request again has reported its end already.
    if (sessionPoller === undefined || requestId === this.#lostRequestId) return this.#poll(requestId, roundtripMs, scope);
    return this.#waitForSession(sessionPoller, requestId, roundtripMs, scope);
  }

  /** Fetches the result when the session's poll has reported it. A few at the same time: the server answers these requests immediately. */
  async #waitForSession(sessionPoller: SessionPoller, requestId: string, roundtripMs: number, scope: PollScope): Promise<SampleResponse> {
    const { fetches } = this.#sampler.sampling;
    const completion = await sessionPoller.wait(requestId, scope.requestSignal);
    if (!fetches.queue.tryEnter()) await fetches.queue.enter(1, scope.requestSignal);
    const begin = fetches.begin();
    try {
      const sizeBytes = completion.state === 'finished' ? completion.responsePayloadUncompressedSize : undefined;
      const response = await this.#poll(requestId, roundtripMs, scope, sizeBytes);
      sessionPoller.retrieved(requestId);
      return response;
    } catch (error) {
      // The server keeps a result that did not arrive: the same request may be submitted again.
      if (RequestFailedError.isInstance(error)) sessionPoller.retrieved(requestId);
      throw error;
    } finally {
      fetches.leave(begin);
    }
  }

  #poll(requestId: string, roundtripMs: number, scope: PollScope, sizeBytes?: number): Promise<SampleResponse> {
    const { poller } = this.#sampler;
    const { core: observer, headers } = this.#call;
    const decoder = RESULT_DECODERS.Sample;
    return poller.poll({ requestId, requestType: 'Sample', decoder, scope, observer, roundtripMs, headers, sizeBytes });
  }

  /** A separate function, so that a pending call does not keep its request. */
  #submit(scope: PollScope, submissions: SubmissionCount | undefined): Promise<UntypedApiFuture> {
    const { sampling, samplingSessionId, seqIds } = this.#sampler;
    const prompt = this.#prompt;
    this.#seqId ??= seqIds.next();
    const seqId = this.#seqId;
    const submission = {
      request: { prompt, samplingSessionId, seqId, ...this.#settings },
      estimatedBytes: estimatePromptBytes(prompt),
      scope,
      headers: this.#call.headers,
      callId: this.#call.core.callId,
    };
    if (submissions === undefined) return sampling.submitter.submitOnce(submission);
    return sampling.submitter.submitUntilAccepted(submission, (error) => {
      submissions.addOrThrow(error);
      this.#failures += 1;
    });
  }

  #noteFailure(error: unknown, isRetried: boolean): void {
    const { clock, report } = this.#sampler.runtime;
    const { startedAt } = this.#call;
    const attempt = this.#failures + 1;
    report.event(
      samplingRetryReport({
        operation: 'sample',
        error,
        isRetried,
        attempt,
        elapsedMs: elapsedMs(clock, startedAt),
        wallMs: clock.wallMs(),
      }),
    );
    if (!isRetried) return;
    this.#failures = attempt;
    if (FutureExpiredError.isInstance(error)) this.#chooseSeqIdAfterLoss();
  }

  #chooseSeqIdAfterLoss(): void {
    const isNew = this.#sampler.retries?.options.seqIdAfterLoss === 'new';
    // A server that answers the same sequence ID with the same lost result would do so forever.
    if (isNew || this.#requestId === this.#lostRequestId) this.#seqId = undefined;
    this.#lostRequestId = this.#requestId ?? this.#lostRequestId;
  }

  #publish(response: SampleResponse | undefined, error: unknown): void {
    const { runtime, sampling, samplingSessionId, model } = this.#sampler;
    const { maxTokens, temperature, topP, topK, seed } = this.#settings.samplingParams;
    const content = sampling.publishesContent && response !== undefined ? contentOf(this.#prompt, response) : undefined;
    publish('tinkex:sampling:call', {
      requestType: 'Sample',
      callId: this.#call.core.callId,
      samplingSessionId,
      model,
      maxTokens,
      temperature,
      topP,
      topK,
      seed: typeof seed === 'number' ? seed : undefined,
      finishReasons: response?.sequences.map(({ stopReason }) => stopReason),
      promptTokens: promptTokenCount(this.#prompt) ?? 0,
      samples: this.#settings.numSamples,
      sampledTokens: response?.sequences.reduce((sum, { tokens }) => sum + tokens.length, 0) ?? 0,
      attempt: this.#failures,
      durationMs: elapsedMs(runtime.clock, this.#call.startedAt),
      requestId: this.#requestId,
      content,
      errorCode: error === undefined ? undefined : TinkexError.isInstance(error) ? error.code : 'UNKNOWN',
      ...runtime.source(),
    });
  }
}

/** Text only: images and audio have no tokens. */
function contentOf(prompt: ModelInput, { sequences }: SampleResponse): NonNullable<SamplingCallEvent['content']> {
  const text = prompt.chunks.flatMap((chunk) => (chunk.type === 'encoded_text' ? [...chunk.tokens] : []));
  return { prompt: text, sequences: sequences.map(({ tokens }) => tokens) };
}
