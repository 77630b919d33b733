import type { Exchange, ProtocolReading, RouteTotal } from '../../api/activity-views.js';
import { currentRun, source } from '../app/store.js';
import { useFetched } from '../data/use-fetched.js';
import { formatBytes, formatCount, formatDuration, formatTime } from '../format/format.js';
import { Empty } from '../parts/empty.js';
import { ViewHead } from '../parts/view-head.js';

/** The requests behind a run: how many, how large, what failed, and which rules a test server saw broken. */
export function ProtocolView() {
  const run = currentRun.value;
  const { value } = useFetched(run?.id ?? '', run === undefined ? undefined : String(run.revision), () => source.protocol(run?.id ?? ''));
  return (
    <div class="view">
      <ViewHead title="Protocol" />
      {value === undefined || value === null ? (
        <Empty title="No requests were recorded" code="await using inspector = await attachInspector();">
          A run folder has metrics and checkpoints. Requests are shown for programs that record themselves.
        </Empty>
      ) : (
        <Reading value={value} />
      )}
    </div>
  );
}

function Reading({ value: { brokenRules, notices, routes, exchanges } }: { readonly value: ProtocolReading }) {
  return (
    <>
      {brokenRules.length > 0 && (
        <section class="card">
          <div class="card-head">
            <h2>Broken rules</h2>
            <span class="badge bad">{brokenRules.length}</span>
          </div>
          <ul class="card-body rules">
            {brokenRules.map(({ rule, text, detail, url }, index) => (
              <li key={index}>
                <a class="strong" href={url} target="_blank" rel="noreferrer">
                  {rule}
                </a>
                <div>{text}</div>
                <div class="muted small">{detail}</div>
              </li>
            ))}
          </ul>
        </section>
      )}
      {notices.length > 0 && (
        <section class="card card-body">
          <h2>Notices</h2>
          <ul>
            {notices.map((notice, index) => (
              <li key={index}>{notice}</li>
            ))}
          </ul>
        </section>
      )}
      <Routes routes={routes} />
      <Exchanges exchanges={exchanges} />
    </>
  );
}

function Routes({ routes }: { readonly routes: readonly RouteTotal[] }) {
  const sorted = [...routes].sort((a, b) => b.requests - a.requests);
  return (
    <section class="card">
      <div class="card-head">
        <h2>By kind</h2>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Kind</th>
              <th class="number">Requests</th>
              <th class="number">Failed</th>
              <th class="number">Mean time</th>
              <th class="number">Sent</th>
              <th class="number">Received</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(({ type, requests, failures, sentBytes, receivedBytes, totalMs }) => (
              <tr key={type}>
                <td class="strong">{type}</td>
                <td class="number">{formatCount(requests)}</td>
                <td class="number">
                  {failures === 0 ? <span class="muted">0</span> : <span class="badge bad">{formatCount(failures)}</span>}
                </td>
                <td class="number">{formatDuration(totalMs / Math.max(1, requests))}</td>
                <td class="number">{formatBytes(sentBytes)}</td>
                <td class="number">{formatBytes(receivedBytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Exchanges({ exchanges }: { readonly exchanges: readonly Exchange[] }) {
  const newest = [...exchanges].reverse().slice(0, 100);
  return (
    <section class="card">
      <div class="card-head">
        <h2>Latest requests</h2>
        <span class="muted small">a sample, when there are many</span>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Time</th>
              <th>Request</th>
              <th>Answer</th>
              <th class="number">Took</th>
              <th class="number">Sent</th>
              <th class="number">Received</th>
            </tr>
          </thead>
          <tbody>
            {newest.map(({ atMs, type, method, path, attempt, status, error, durationMs, sentBytes, receivedBytes }, index) => (
              <tr key={`${atMs} ${index}`}>
                <td class="muted small">{formatTime(atMs)}</td>
                <td>
                  <span class="mono">
                    {method} {path}
                  </span>
                  <div class="muted small">
                    {type}
                    {attempt > 0 && `, attempt ${attempt + 1}`}
                  </div>
                </td>
                <td>
                  <span class={`badge ${error !== undefined || (status ?? 0) >= 400 ? 'bad' : 'good'}`}>{error ?? status}</span>
                </td>
                <td class="number">{formatDuration(durationMs)}</td>
                <td class="number">{formatBytes(sentBytes)}</td>
                <td class="number">{receivedBytes === undefined ? '–' : formatBytes(receivedBytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
