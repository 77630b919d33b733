import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { VirtualClock } from '@tinkex/http/testing';
import { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import type { Timeline } from '../src/api/activity-views.js';
import type { NowReading, RunDetail, RunSummary, StreamUpdate } from '../src/api/run-views.js';
import { attachInspector, inspectFolder } from '../src/index.js';
import { Recorder } from '../src/record/recorder.js';
import { Events } from './harness/events.js';
import { temporaryFolder } from './harness/temporary-folder.js';
import { startTraining } from './harness/training.js';

const quiet = { log: () => undefined };
/** How many events the recorder must take in bounded memory; more with TINKEX_INSPECTOR_EVENTS. */
const EVENTS = Number(process.env['TINKEX_INSPECTOR_EVENTS'] ?? 20_000);

/** The first message of the stream: all runs. */
async function summaries(url: string): Promise<readonly RunSummary[]> {
  const gone = new AbortController();
  const response = await fetch(`${url}api/stream`, { signal: gone.signal });
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    if (text.includes('\n\n')) break;
  }
  gone.abort();
  return (JSON.parse(/data: (.*)/.exec(text)?.[1] ?? '{}') as StreamUpdate).changed;
}

/** What was counted, as soon as it is what the test waits for. */
async function totalsOf(url: string, isThere: (now: NowReading) => boolean): Promise<NowReading['totals']> {
  for (;;) {
    const now = (await summaries(url))[0]?.now;
    if (now !== undefined && isThere(now)) return now.totals;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function get<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T;
}

describe('a recording', () => {
  it('shows the same afterwards as while it ran', async () => {
    using folder = temporaryFolder();
    await using program = await startTraining();
    const about = { name: 'run', model: 'tinkex/tiny', rank: 8, totalSteps: 3 };
    const inspector = await attachInspector({ ...quiet, ...about, recordTo: folder.path });
    await program.train(3);
    await program.training.saveState('kept');
    const [live] = await summaries(inspector.url);
    const detail = await get<RunDetail>(`${inspector.url}api/runs/live/detail`);
    const timeline = await get<Timeline>(`${inspector.url}api/runs/live/timeline`);
    await inspector.close();

    await using again = await inspectFolder(folder.path, quiet);
    const [recorded] = await summaries(again.url);
    expect(live).toMatchObject({ ...about, source: 'live', state: 'running', steps: 3 });
    expect(recorded).toMatchObject({ ...about, source: 'folder', state: 'finished', steps: 3, headline: live?.headline });
    const { id: _live, ...before } = detail;
    const { id: _recorded, ...after } = await get<RunDetail>(`${again.url}api/runs/${recorded?.id}/detail`);
    expect(after).toEqual(before);
    expect(before.checkpoints).toMatchObject([{ name: 'kept', step: 3 }]);
    expect(await get(`${again.url}api/runs/${recorded?.id}/timeline`)).toEqual(timeline);
    expect(timeline.spans.filter(({ type }) => type === 'OptimStep')).toHaveLength(3);
  });

  it('says what the tokens cost so far, if it knows all prices', async () => {
    using folder = temporaryFolder();
    await using program = await startTraining();
    const inspector = await attachInspector({ ...quiet, recordTo: folder.path, budgetUsd: 1, prices: { train: 2 } });
    await program.train(2);
    const { trainedTokens } = await totalsOf(inspector.url, ({ totals }) => totals.trainedTokens > 0);
    expect((await summaries(inspector.url))[0]).toMatchObject({ costUsd: (trainedTokens * 2) / 1e6, budgetUsd: 1 });
    const sampling = await program.training.saveWeightsAndGetSamplingClient();
    await sampling.sample({ prompt: ModelInput.fromInts([1, 2, 3]), numSamples: 1, samplingParams: { maxTokens: 4 } });
    await inspector.close();
    await using again = await inspectFolder(folder.path, quiet);
    // Sampling has no price here: the sum of the other parts would be too low.
    expect((await summaries(again.url))[0]?.costUsd).toBeUndefined();
    await expect(attachInspector({ ...quiet, prices: { train: -1 } })).rejects.toThrow('prices.train');
  });

  it('says what each pending call waits for, and for how long sampling is held back', async () => {
    using folder = temporaryFolder();
    const clock = new VirtualClock();
    const events = new Events();
    const recorder = new Recorder({ folder: folder.path, clock, subscribe: events.subscribe });
    events.publish('tinkex:chunk:submit', { requestType: 'ForwardBackward', requestId: 'r1', chunkIndex: 0 });
    events.publish('tinkex:queue:state_change', {
      requestType: 'ForwardBackward',
      requestId: 'r1',
      to: 'paused_capacity',
      reason: 'no GPU, key tml-abcdefghijkl',
    });
    events.publish('tinkex:rate_limit:set', { delayMs: 5_000 });
    await clock.advance(1_000);
    const { now } = recorder.recording;
    expect(now).toMatchObject({ queueState: 'paused_capacity', inFlight: { ForwardBackward: 1 }, totals: { rateLimits: 1 } });
    expect(now?.pending[0]?.waitsFor).toMatch(/^capacity of the service: no GPU/);
    expect(now?.pending[0]?.waitsFor).not.toContain('tml-abcdefghijkl');
    expect(now?.rateLimitedUntilMs).toBe(clock.wallMs() - 1_000 + 5_000);
    events.publish('tinkex:rate_limit:cleared', { delayMs: 0 });
    events.publish('tinkex:future:settled', {
      requestType: 'ForwardBackward',
      requestId: 'r1',
      outcome: 'resolved',
      durationMs: 900,
      attempt: 1,
    });
    await clock.advance(1_000);
    expect(recorder.recording.now).toMatchObject({ pending: [], inFlight: {}, queueState: undefined, rateLimitedUntilMs: undefined });
    expect(recorder.recording.spans.items).toMatchObject([{ type: 'ForwardBackward', lane: 'passes', endMs: clock.wallMs() - 1_000 }]);
    recorder.close();
  });

  it(`takes ${EVENTS.toLocaleString('en-US')} events in bounded memory and on a bounded disk`, async () => {
    using folder = temporaryFolder();
    const clock = new VirtualClock();
    const events = new Events();
    const recorder = new Recorder({ folder: folder.path, clock, subscribe: events.subscribe, maxFileBytes: 100_000, maxFiles: 4 });
    for (let index = 0; index < EVENTS / 4; index += 1) {
      const requestId = `r${index}`;
      events.publish('tinkex:http:request:stop', {
        requestType: 'Sample',
        method: 'POST',
        path: '/api/v1/asample',
        requestBytes: 100,
        responseBytes: 50,
        status: 200,
      });
      events.publish('tinkex:future:poll', { requestType: 'Sample', requestId, outcome: 'pending', attempt: 0 });
      events.publish('tinkex:sampling:call', { requestType: 'Sample', samples: 1, sampledTokens: 10 });
      events.publish('tinkex:future:settled', { requestType: 'Sample', requestId, outcome: 'resolved', durationMs: 5, attempt: 1 });
      if (index % 1_000 === 999) await clock.advance(1_000);
    }
    await clock.advance(1_000);
    const { recording } = recorder;
    expect(recording.now?.totals).toMatchObject({ requests: EVENTS / 4, samples: EVENTS / 4, sampledTokens: (EVENTS / 4) * 10 });
    expect(recording.now?.pending).toEqual([]);
    expect(recording.droppedSpans + recording.spans.total).toBe(EVENTS / 4);
    expect(recording.spans.items.length).toBeLessThanOrEqual(5_000);
    recorder.close();
    const files = readdirSync(folder.path).map((file) => statSync(join(folder.path, file)).size);
    expect(files.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2 * 4 * 100_000);
  });
});
