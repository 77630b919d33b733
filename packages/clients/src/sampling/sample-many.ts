import { AbortedError, ConfigurationError } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { onAbort } from '../runtime/on-abort.js';
import { ResultLine } from './result-queue.js';

/** Options of `sampleMany`. */
export interface SampleManyOptions extends CallOptions {
  /** Calls under way at once. Default 64. */
  readonly concurrency?: number;
  /** `'completion'` (default): as they finish. `'input'`: in the order of the prompts; a slow one holds back those behind it. */
  readonly order?: 'completion' | 'input';
  /** `'throw'` (default): the first failure ends the loop and aborts the calls under way. `'yield'`: failures are items too. */
  readonly errors?: 'throw' | 'yield';
  /** Ends the loop and the calls under way with `AbortedError`. */
  readonly signal?: AbortSignal;
  /** Limit for each call in milliseconds, counted from when its input was read; the call then fails with `TimeoutError`. No limit by default. */
  readonly timeoutMs?: number;
}

/** One answered prompt. `index` is its position in the input. */
export interface SampleManySuccess<Input, Output> {
  readonly index: number;
  readonly input: Input;
  readonly response: Output;
}

/** One failed prompt; only with `errors: 'yield'`. */
export interface SampleManyFailure<Input> {
  readonly index: number;
  readonly input: Input;
  readonly error: unknown;
}

/** What `sampleMany` yields. */
export type SampleManyItem<Input, Output> = SampleManySuccess<Input, Output> | SampleManyFailure<Input>;

/**
 * Runs `work` over the inputs, at most `concurrency` at once, and yields what comes back. Inputs are read only as far ahead as
 * needed, so that an endless or asynchronous source is fine; a slow source does not hold back results. Leaving the loop aborts the
 * calls under way.
 */
export async function* mapConcurrently<Input, Output>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  work: (input: Input, signal: AbortSignal) => PromiseLike<Output>,
  options: SampleManyOptions,
): AsyncGenerator<SampleManyItem<Input, Output>, void, undefined> {
  const { concurrency = 64, order = 'completion', errors = 'throw', signal } = options;
  if (!(concurrency >= 1)) throw new ConfigurationError({ message: 'concurrency must be at least 1.', option: 'concurrency' });
  const source = Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  const line = new ResultLine<SampleManyItem<Input, Output>>(order);
  const controller = new AbortController();
  const unfollow = signal === undefined || signal.aborted ? undefined : onAbort(signal, () => stop(signal.reason));
  let count = 0;
  let isReading = false;
  let isExhausted = false;
  let sourceFailure: { readonly error: unknown } | undefined;
  const stop = (reason: unknown): void => {
    controller.abort(reason);
    line.wake();
  };
  const read = async (): Promise<void> => {
    isReading = true;
    try {
      const next = await source.next();
      if (next.done) isExhausted = true;
      else if (!controller.signal.aborted) line.add(start(count++, next.value, work, controller.signal));
    } catch (error) {
      sourceFailure = { error };
    }
    isReading = false;
    line.wake();
  };
  try {
    for (;;) {
      if (signal?.aborted) throw new AbortedError({ message: 'sampleMany was aborted.', cause: signal.reason });
      if (!isReading && !isExhausted && sourceFailure === undefined && line.size < concurrency) void read();
      const item = line.take();
      if (item !== undefined) {
        if ('error' in item && errors === 'throw') throw item.error;
        yield item;
      } else if (sourceFailure !== undefined) {
        throw sourceFailure.error;
      } else if (isReading || line.size > 0) {
        await line.ready();
      } else {
        return;
      }
    }
  } finally {
    unfollow?.();
    controller.abort(new AbortedError({ message: 'The loop over sampleMany has ended.' }));
    const ending = endSource(source);
    // A generator ends only after the input it is working on, which may never come: nobody waits for that one.
    if (isReading) ending.catch(() => undefined);
    else await ending;
  }
}

async function endSource(source: Iterator<unknown> | AsyncIterator<unknown>): Promise<void> {
  await source.return?.();
}

async function start<Input, Output>(
  index: number,
  input: Input,
  work: (input: Input, signal: AbortSignal) => PromiseLike<Output>,
  signal: AbortSignal,
): Promise<SampleManyItem<Input, Output>> {
  try {
    return { index, input, response: await work(input, signal) };
  } catch (error) {
    return { index, input, error };
  }
}
