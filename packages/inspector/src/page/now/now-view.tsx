import type { NowReading, RunSummary } from '../../api/run-views.js';
import { currentRun } from '../app/store.js';
import { formatAgo, formatBytes, formatCount, formatDuration, formatNumber, formatUsd } from '../format/format.js';
import { Empty } from '../parts/empty.js';
import { nowMs } from '../parts/now-clock.js';
import { Stat } from '../parts/stat.js';
import { ViewHead } from '../parts/view-head.js';

const QUEUE: Readonly<Record<string, readonly [string, string]>> = {
  active: ['good', 'The service is working on your calls.'],
  paused_capacity: ['warn', 'The service is out of capacity. Your calls wait; nothing is lost.'],
  paused_rate_limit: ['warn', 'The service holds your calls back: a rate limit.'],
};

/** What the program is doing at this moment, and what it waits for. */
export function NowView() {
  const run = currentRun.value;
  const now = run?.now;
  return (
    <div class="view">
      <ViewHead title="Now" />
      {run === undefined || now === undefined ? (
        <Empty title="Nothing was recorded" code="await using inspector = await attachInspector();">
          A run folder has metrics and checkpoints. What happens between the steps is shown for programs that record themselves.
        </Empty>
      ) : (
        <Reading run={run} now={now} />
      )}
    </div>
  );
}

function Reading({ run, now }: { readonly run: RunSummary; readonly now: NowReading }) {
  const { totals } = now;
  const inFlight = Object.values(now.inFlight).reduce((sum, count) => sum + count, 0);
  const isRunning = run.state === 'running';
  return (
    <>
      {!isRunning && (
        <div class={`banner ${run.state === 'stopped' ? 'bad' : ''}`}>
          <span class="strong">{run.state === 'stopped' ? 'The program stopped before its end.' : 'The program has ended.'}</span>
          <span>This is what it was doing {formatAgo(now.atMs, nowMs.value)}.</span>
        </div>
      )}
      {isRunning && <Queue now={now} />}
      <RateLimit now={now} />
      <dl class="stats">
        <Stat
          name="Step"
          value={run.steps.toLocaleString('en-US')}
          note={run.totalSteps === undefined ? undefined : `of ${run.totalSteps.toLocaleString('en-US')}`}
        />
        <Stat
          name="Time left"
          value={timeLeft(run, now)}
          note={now.stepsPerSecond > 0 ? `${formatNumber(now.stepsPerSecond)} steps per second` : undefined}
        />
        <Stat
          name="Tokens per second"
          value={formatCount(now.tokensPerSecond)}
          note={`${formatCount(totals.trainedTokens)} trained, ${formatCount(totals.sampledTokens)} sampled`}
        />
        <Stat name="In flight" value={formatCount(inFlight)} note={inFlightNote(now)} />
        <Stat name="Samples" value={formatCount(totals.samples)} note={`${formatNumber(now.samplesPerSecond)} per second`} />
        <Stat name="Retries" value={formatCount(totals.retries)} note={`${formatCount(totals.failures)} calls failed`} />
        <Stat
          name="Requests"
          value={formatCount(totals.requests)}
          note={`${formatBytes(totals.sentBytes)} sent, ${formatBytes(totals.receivedBytes)} received`}
        />
        <Stat
          name="Cost"
          value={run.costUsd === undefined ? '–' : formatUsd(run.costUsd)}
          note={costNote(run)}
          isBad={run.costUsd !== undefined && run.budgetUsd !== undefined && run.costUsd > run.budgetUsd}
        />
      </dl>
      <Pending now={now} isRunning={isRunning} />
    </>
  );
}

function Queue({ now }: { readonly now: NowReading }) {
  const [kind, sentence] = QUEUE[now.queueState ?? ''] ?? ['', 'The program waits for nothing on the server.'];
  return (
    <div class={`banner ${kind}`} role="status">
      <span class="strong">{sentence}</span>
      {now.queueReason !== undefined && <span>{now.queueReason}</span>}
    </div>
  );
}

function RateLimit({ now }: { readonly now: NowReading }) {
  const leftMs = (now.rateLimitedUntilMs ?? 0) - nowMs.value;
  if (leftMs <= 0) return null;
  return (
    <div class="banner warn" role="timer">
      <span class="strong">Rate limited.</span>
      <span>Sampling continues in {formatDuration(Math.ceil(leftMs / 1_000) * 1_000)}.</span>
    </div>
  );
}

function Pending({ now, isRunning }: { readonly now: NowReading; readonly isRunning: boolean }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{isRunning ? 'Waiting for the server' : 'Was waiting for the server'}</h2>
      </div>
      {now.pending.length === 0 ? (
        <p class="card-body muted">No call waits.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Call</th>
                <th>Waits for</th>
                <th class="number">Since</th>
                <th>Request ID</th>
              </tr>
            </thead>
            <tbody>
              {now.pending.map(({ type, requestId, sinceMs, waitsFor }) => (
                <tr key={requestId ?? type}>
                  <td class="strong">{type}</td>
                  <td>{waitsFor}</td>
                  <td class="number">{formatDuration(Math.max(0, (isRunning ? nowMs.value : now.atMs) - sinceMs))}</td>
                  <td class="mono muted">{requestId}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function timeLeft({ steps, totalSteps }: RunSummary, { stepsPerSecond }: NowReading): string {
  if (totalSteps === undefined || stepsPerSecond <= 0) return '–';
  return totalSteps <= steps ? 'done' : formatDuration((1_000 * (totalSteps - steps)) / stepsPerSecond);
}

function costNote({ costUsd, budgetUsd }: RunSummary): string {
  if (budgetUsd !== undefined) return `of ${formatUsd(budgetUsd)}`;
  return costUsd === undefined ? 'no prices given' : 'no budget set';
}

function inFlightNote({ inFlight }: NowReading): string {
  const parts = Object.entries(inFlight).map(([type, count]) => `${count} ${type}`);
  return parts.join(', ') || 'nothing';
}
