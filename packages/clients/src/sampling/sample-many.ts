import { onAbort } from '@tinkex/http';
import { AbortedError, ConfigurationError } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import type { CallScope } from '../runtime/call-scope.js';
import { ResultQueue } from './result-queue.js';

/** Options of `sampleMany`. `signal` and `timeoutMs` cover the whole loop, from its first item to its last. */
export interface SampleManyOptions extends CallOptions {
  /** Calls in progress at the same time. Default 64. */
  readonly concurrency?: number | undefined;
  /** `'completion'` (default): as they finish. `'input'`: in the order of the prompts; a slow one holds back those behind it. */
  readonly order?: 'completion' | 'input' | undefined;
  /** `'throw'` (default): the first failure ends the loop and aborts the calls in progress. `'yield'`: failures are items too. */
  readonly errors?: 'throw' | 'yield' | undefined;
  /** Limit of each sample in milliseconds, counted from when its input was read. Then that sample fails with `TimeoutError`. Default: no limit. */
  readonly sampleTimeoutMs?: number | undefined;
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

/** An item of `sampleMany`. */
export type SampleManyItem<Input, Output> = SampleManySuccess<Input, Output> | SampleManyFailure<Input>;

/**
 * Runs `work` over the inputs, at most `concurrency` at the same time, and yields the results. Reads inputs only as far ahead as needed, so
 * an endless or asynchronous source is fine; a slow source does not hold back results. Leaving the loop aborts the calls in progress. So
 * does the scope, which this function ends.
 */
export async function* mapConcurrently<Input, Output>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  work: (input: Input, signal: AbortSignal) => PromiseLike<Output>,
  { concurrency = 64, order = 'completion', errors = 'throw' }: SampleManyOptions,
  scope: CallScope,
): AsyncGenerator<SampleManyItem<Input, Output>, void, undefined> {
  const source = Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  const queue = new ResultQueue<SampleManyItem<Input, Output>>(order);
  const controller = new AbortController();
  let count = 0;
  let isReading = false;
  let isExhausted = false;
  let sourceFailure: { readonly error: unknown } | undefined;
  const unfollow = onAbort(scope.signal, () => {
    controller.abort(scope.failure);
    queue.wake();
  });
  const read = async (): Promise<void> => {
    isReading = true;
    try {
      const next = await source.next();
      if (next.done) isExhausted = true;
      else if (!controller.signal.aborted) queue.add(start(count++, next.value, work, controller.signal));
    } catch (error) {
      sourceFailure = { error };
    }
    isReading = false;
    queue.wake();
  };
  try {
    if (!(concurrency >= 1)) throw new ConfigurationError({ message: 'Option concurrency must be at least 1.', option: 'concurrency' });
    for (;;) {
      scope.throwIfEnded();
      if (!isReading && !isExhausted && sourceFailure === undefined && queue.size < concurrency) void read();
      const item = queue.take();
      if (item !== undefined) {
        if ('error' in item && errors === 'throw') throw item.error;
        yield item;
      } else if (sourceFailure !== undefined) {
        throw sourceFailure.error;
      } else if (isReading || queue.size > 0) {
        await queue.ready();
      } else {
        return;
      }
    }
  } finally {
    unfollow();
    scope.end();
    controller.abort(new AbortedError({ message: 'The loop over sampleMany has ended.' }));
    const ending = endSource(source);
    // A generator ends only after the input it is working on, which may never come: do not wait for that one.
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
