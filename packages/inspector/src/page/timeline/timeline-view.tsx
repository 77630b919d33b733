import { useMemo, useState } from 'preact/hooks';
import type { Span } from '../../api/activity-views.js';
import { currentRun, source } from '../app/store.js';
import { useFetched } from '../data/use-fetched.js';
import { formatDuration } from '../format/format.js';
import { Empty } from '../parts/empty.js';
import { Segments } from '../parts/segments.js';
import { ViewHead } from '../parts/view-head.js';
import { idleGaps, sequentialShare } from './idle-gaps.js';
import { TimelineChart } from './timeline-chart.js';

/** How much of the time is shown at first. */
const WINDOWS = { '1': '1 s', '10': '10 s', '60': '1 min', all: 'All' } as const;
type WindowName = keyof typeof WINDOWS;

const MAX_SLOWEST = 10;
const NOTABLE = 0.05;

/** When each operation was sent, ran and came back; and when nothing did. */
export function TimelineView() {
  const run = currentRun.value;
  const { value } = useFetched(run?.id ?? '', run?.has.timeline ? String(run.revision) : undefined, () =>
    source.timeline(run?.id ?? '', 0),
  );
  return (
    <div class="view">
      {value === undefined || value.spans.length === 0 ? (
        <>
          <ViewHead title="Timeline" />
          <Empty title="No operations yet" code="await using inspector = await attachInspector();">
            Programs that record themselves show each operation here; runs of the cookbook show the parts of their steps.
          </Empty>
        </>
      ) : (
        <Operations spans={value.spans} dropped={value.dropped} />
      )}
    </div>
  );
}

function Operations({ spans, dropped }: { readonly spans: readonly Span[]; readonly dropped: number }) {
  const [name, setName] = useState<WindowName>('all');
  const [moved, setMoved] = useState<readonly [number, number] | undefined>(undefined);
  const relative = useMemo(() => fromZero(spans), [spans]);
  const { gaps, share } = useMemo(() => idleGaps(relative), [relative]);
  const end = relative.reduce((latest, { endMs }) => Math.max(latest, endMs), 0);
  const seconds = name === 'all' ? undefined : Number(name);
  const window = moved ?? ([seconds === undefined ? 0 : Math.max(0, end - seconds * 1_000), end] as const);
  return (
    <>
      <ViewHead title="Timeline">
        <span class="muted small">Drag to move, Ctrl and wheel to zoom</span>
        <Segments
          label="Time shown"
          options={Object.entries(WINDOWS) as [WindowName, string][]}
          value={name}
          onChange={(wanted) => {
            setName(wanted);
            setMoved(undefined);
          }}
        />
      </ViewHead>
      <Advice share={share} sequential={sequentialShare(relative)} />
      <section class="card card-body" aria-label="Operations over time">
        <TimelineChart spans={relative} gaps={gaps} window={window} onWindow={setMoved} />
        <Legend />
      </section>
      {dropped > 0 && (
        <p class="muted small">{dropped.toLocaleString('en-US')} more operations were too many to draw; they are counted in Now.</p>
      )}
      <Slowest spans={relative} />
    </>
  );
}

function Advice({ share, sequential }: { readonly share: number; readonly sequential: number }) {
  const percent = Math.round(share * 100);
  if (sequential > 0.5) {
    return (
      <div class="banner warn">
        <span class="strong">Your calls run one after the other.</span>
        <span>
          Call <code>optimStep</code> before you await <code>forwardBackward</code>: the server then has the next operation while the result
          is on its way. Nothing was in flight for {percent} % of the time.
        </span>
      </div>
    );
  }
  if (share > NOTABLE) {
    return (
      <div class="banner">
        <span class="strong">Nothing was in flight for {percent} % of the time.</span>
        <span>The marked gaps are your program's own work between calls. Submit the next step before you look at this one.</span>
      </div>
    );
  }
  return (
    <div class="banner good">
      <span class="strong">The server always had something to do.</span>
    </div>
  );
}

function Legend() {
  return (
    <p class="timeline-legend muted small">
      <LegendEntry phase="sent">being sent</LegendEntry>
      <LegendEntry phase="queued">queued</LegendEntry>
      <LegendEntry phase="ran">running, until the result was here</LegendEntry>
      <LegendEntry phase="idle">nothing in flight</LegendEntry>
    </p>
  );
}

function LegendEntry({ phase, children }: { readonly phase: string; readonly children: string }) {
  return (
    <span>
      <span class={`phase ${phase}`} />
      {children}
    </span>
  );
}

function Slowest({ spans }: { readonly spans: readonly Span[] }) {
  const slowest = [...spans].sort((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs)).slice(0, MAX_SLOWEST);
  return (
    <section class="card">
      <div class="card-head">
        <h2>Slowest operations</h2>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Operation</th>
              <th class="number">Took</th>
              <th class="number">Began at</th>
              <th>Request ID</th>
            </tr>
          </thead>
          <tbody>
            {slowest.map(({ type, startMs, endMs, id, error }, index) => (
              <tr key={`${id} ${startMs} ${index}`}>
                <td>
                  <span class="strong">{type}</span> {error !== undefined && <span class="badge bad">{error}</span>}
                </td>
                <td class="number">{formatDuration(endMs - startMs)}</td>
                <td class="number muted">{formatDuration(startMs)}</td>
                <td class="mono muted">{id ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Times since the first operation. */
function fromZero(spans: readonly Span[]): Span[] {
  const first = spans.reduce((earliest, { startMs }) => Math.min(earliest, startMs), Infinity);
  return spans.map((span) => ({
    ...span,
    startMs: span.startMs - first,
    submittedMs: span.submittedMs === undefined ? undefined : span.submittedMs - first,
    runningMs: span.runningMs === undefined ? undefined : span.runningMs - first,
    endMs: span.endMs - first,
  }));
}
