import { type Clock, monotonicTime, systemClock } from '@tinkex/http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { publishSample } from '../../test/sample-events.js';
import { attachProgress } from './attach-progress.js';
import type { ProgressStream } from './progress-output.js';

const operation = 'tinkex:training:operation';
const settled = 'tinkex:future:settled';

function collectingStream(extra: Partial<ProgressStream> = {}): ProgressStream & { readonly texts: string[] } {
  const texts: string[] = [];
  return { texts, write: (text) => texts.push(text), ...extra };
}

/** One step of a training loop that takes `ms`. */
function step(ms: number, loss = 2.5): void {
  publishSample(operation, { requestType: 'ForwardBackward', tokens: 1_000, metrics: { 'loss:mean': loss } });
  vi.advanceTimersByTime(ms);
  publishSample(settled, { requestType: 'ForwardBackward' });
  publishSample(settled, { requestType: 'OptimStep' });
}

describe('attachProgress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  it('writes plain lines without a terminal: step, loss, rate, time left', () => {
    const stream = collectingStream();
    const progress = attachProgress({ stream, totalSteps: 4 });
    step(1_000, 2.5);
    step(1_000, 1.25);
    progress.detach();
    expect(stream.texts).toEqual([
      'step 1/4  loss 2.5  eta 00:03  elapsed 00:01\n',
      'step 2/4  loss 1.25  2,000 tok/s  eta 00:02  elapsed 00:02\n',
    ]);
  });

  it('shows runs that were restarted, and counts those given up as failures', () => {
    const stream = collectingStream();
    using _progress = attachProgress({ stream, intervalMs: 0 });
    publishSample('tinkex:recovery:attempt_failed');
    publishSample('tinkex:recovery:recovered');
    publishSample('tinkex:recovery:given_up');
    expect(stream.texts).toEqual(['step 0  elapsed 00:00  restarts 1\n', 'step 0  elapsed 00:00  restarts 1  failures 1\n']);
  });

  it('shows queue state, rate limits, samples, retries and failures when there are any', () => {
    const stream = collectingStream();
    using progress = attachProgress({ stream, intervalMs: 0 });
    publishSample('tinkex:queue:state_change', { to: 'paused_capacity' });
    publishSample('tinkex:rate_limit:set');
    publishSample('tinkex:http:request:retry');
    publishSample('tinkex:sampling:call', { samples: 4 });
    publishSample('tinkex:sampling:call', { errorCode: 'X', sampledTokens: 0 });
    publishSample('tinkex:future:unobserved_failure');
    expect(stream.texts.at(-1)).toBe(
      'step 0  elapsed 00:00  rate limited  queue paused_capacity for 00:00  samples 4  retries 1  failures 2\n',
    );
    publishSample('tinkex:rate_limit:cleared');
    publishSample('tinkex:queue:state_change', { to: 'active' });
    expect(progress.read()).toMatchObject({ isRateLimited: false, queueState: 'active' });
    expect(stream.texts.at(-1)).toContain('queue active');
  });

  it('rewrites one line on a terminal, in color, no wider than the terminal, and ends it', () => {
    vi.stubEnv('NO_COLOR', '');
    const stream = collectingStream({ isTTY: true, columns: 24 });
    const progress = attachProgress({ stream, totalSteps: 2 });
    step(900);
    progress.detach();
    expect(stream.texts).toHaveLength(2);
    expect(stream.texts[0]).toBe('\r\u001b[2K\u001b[1mstep 1/2\u001b[0m  \u001b[32mloss 2.5\u001b[0m');
    expect(stream.texts[1]).toBe(`${stream.texts[0]}\n`);
  });

  it.each([
    ['NO_COLOR is set', { isTTY: true }, '1'],
    ['the option says so', { isTTY: true, hasColors: false }, ''],
  ])('has no colors when %s', (_when, options, noColor) => {
    vi.stubEnv('NO_COLOR', noColor);
    const stream = collectingStream();
    const progress = attachProgress({ stream, ...options });
    step(1_000);
    progress.detach();
    expect(stream.texts[0]?.slice('\r\u001b[2K'.length)).not.toContain('\u001b');
  });

  it('writes no escape sequence at all without a terminal', () => {
    const stream = collectingStream();
    const progress = attachProgress({ stream, isTTY: false });
    step(1_000);
    progress.detach();
    expect(stream.texts.join('')).not.toContain('\u001b');
  });

  it('shows no more than one update an interval, and always the newest state', () => {
    const stream = collectingStream({ isTTY: true });
    using _progress = attachProgress({ stream, hasColors: false });
    for (let count = 0; count < 50; count += 1) step(1);
    expect(stream.texts).toHaveLength(1);
    vi.advanceTimersByTime(100);
    expect(stream.texts).toHaveLength(2);
    expect(stream.texts[1]).toContain('step 50 ');
  });

  it('continues to show the time while nothing happens: every second on a terminal, every minute without', () => {
    const terminal = collectingStream({ isTTY: true });
    const file = collectingStream();
    const inTerminal = attachProgress({ stream: terminal, hasColors: false });
    const inFile = attachProgress({ stream: file });
    publishSample('tinkex:queue:state_change', { to: 'paused_capacity' });
    vi.advanceTimersByTime(180_000);
    expect(terminal.texts).toHaveLength(181);
    expect(terminal.texts.at(-1)).toBe('\r\u001b[2Kstep 0  elapsed 03:00  queue paused_capacity for 03:00');
    expect(file.texts).toHaveLength(4);
    inTerminal.detach();
    inFile.detach();
  });

  it('ticks as often as the option says, or never', () => {
    const stream = collectingStream();
    const progress = attachProgress({ stream, tickMs: 0 });
    vi.advanceTimersByTime(600_000);
    expect(stream.texts).toEqual([]);
    progress.detach();
  });

  it('counts on from the step that a resumed run starts at', () => {
    const progress = attachProgress({ stream: collectingStream(), totalSteps: 30, startStep: 25 });
    step(1_000);
    step(1_000);
    expect(progress.read()).toMatchObject({ step: 27, etaMs: 3_000 });
    progress.detach();
  });

  it.each([
    ['the weights that the server counted', { 'loss:sum': 10, 'weights:sum': 4 }, 5, 2.5],
    ['the weights that were sent', { 'loss:sum': 10 }, 5, 2],
    ['nothing when it is a mean', { 'loss:mean': 10 }, 5, 10],
    ['nothing when nothing is known', { 'loss:sum': 10 }, undefined, 10],
  ])('divides the loss by %s', (_what, metrics, lossWeight, loss) => {
    const progress = attachProgress({ stream: collectingStream() });
    publishSample(operation, { metrics, lossWeight });
    expect(progress.read().loss).toBe(loss);
    progress.detach();
  });

  it('estimates the time left from recent steps', () => {
    using progress = attachProgress({ stream: collectingStream(), totalSteps: 200 });
    step(60_000);
    for (let count = 1; count < 100; count += 1) step(1_000);
    expect(progress.read().etaMs).toBeCloseTo(100_000, -2);
  });

  it('takes another step and another loss', () => {
    using progress = attachProgress({ stream: collectingStream(), stepType: 'ForwardBackward', lossMetric: 'kl:mean' });
    publishSample(operation, { metrics: { 'loss:mean': 1, 'kl:mean': 0.5 } });
    publishSample(settled, { requestType: 'ForwardBackward' });
    publishSample(settled, { requestType: 'ForwardBackward', outcome: 'rejected' });
    publishSample(settled, { requestType: 'OptimStep' });
    expect(progress.read()).toMatchObject({ step: 1, loss: 0.5 });
  });

  it('finds a loss under a longer name, and keeps the last one known', () => {
    using progress = attachProgress({ stream: collectingStream() });
    publishSample(operation, { metrics: { train_loss: 0.75 } });
    publishSample(operation, { metrics: { other: 1 } });
    expect(progress.read().loss).toBe(0.75);
  });

  it('skips lines while the stream is stuck, and writes nothing to one that is destroyed', () => {
    const stuck = collectingStream({ writableNeedDrain: true });
    const gone = collectingStream({ destroyed: true });
    const attachments = [attachProgress({ stream: stuck }), attachProgress({ stream: gone })];
    step(2_000);
    for (const attachment of attachments) attachment.detach();
    expect([...stuck.texts, ...gone.texts]).toEqual([]);
  });

  it('survives a stream that throws: now, later, and at the end', () => {
    const stream = {
      write: (): never => {
        throw new Error('broken pipe');
      },
    };
    const progress = attachProgress({ stream, intervalMs: 1_000, tickMs: 0, onError: () => undefined });
    step(2_000);
    step(1);
    vi.advanceTimersByTime(2_000);
    progress.detach();
    expect(progress.errors).toBe(3);
  });

  it('takes its time from the clock it is given', () => {
    let nowMs = 5_000;
    const clock: Clock = { ...systemClock, monotonicMs: () => monotonicTime(nowMs) };
    const stream = collectingStream();
    const progress = attachProgress({ stream, clock });
    nowMs += 3_661_000;
    progress.detach();
    expect(stream.texts).toEqual(['step 0  elapsed 1:01:01\n']);
  });
});
