import { signal } from '@preact/signals';
import type { RunSummary } from '../../api/run-views.js';
import { goTo, linkTo, route } from '../app/route.js';
import { connection, currentRun, runs } from '../app/store.js';
import { SparkLine } from '../chart/spark-line.js';
import { formatAgo, formatNumber, formatUsd } from '../format/format.js';
import { Empty } from '../parts/empty.js';
import { nowMs } from '../parts/now-clock.js';
import { ViewHead } from '../parts/view-head.js';

const filter = signal('');

const STATES = { running: 'running', finished: 'finished', stopped: 'stopped', empty: 'empty' } as const;

/** All runs: what each is, how far it got, where its loss or reward went. */
export function RunsView() {
  const wanted = filter.value.toLowerCase();
  const shown = runs.value.filter(({ name, model = '' }) => `${name} ${model}`.toLowerCase().includes(wanted));
  return (
    <div class="view">
      <ViewHead title="Runs" hasPicker={false}>
        {route.value.compare.length > 0 && (
          <a class="button primary" href={linkTo({ view: 'metrics' })}>
            Compare {route.value.compare.length + (route.value.compare.includes(currentRun.value?.id ?? '') ? 0 : 1)} runs
          </a>
        )}
        {runs.value.length > 1 && (
          <input
            class="field"
            type="search"
            placeholder="Filter"
            aria-label="Filter the runs"
            data-filter
            value={filter.value}
            onInput={({ currentTarget }) => {
              filter.value = currentTarget.value;
            }}
          />
        )}
      </ViewHead>
      {runs.value.length === 0 ? <NoRuns /> : <RunTable shown={shown} />}
    </div>
  );
}

function NoRuns() {
  if (connection.value === 'connecting') return <Empty title="Connecting…" />;
  return (
    <Empty
      title="No runs yet"
      code={"await using inspector = await attachInspector();\n// or\ntrainSupervised({ …, logPath: 'runs/first' });"}
    >
      Nothing here has metrics, checkpoints or a recording. This page fills itself as soon as a run writes its first line.
    </Empty>
  );
}

function RunTable({ shown }: { readonly shown: readonly RunSummary[] }) {
  return (
    <div class="card scroll">
      <table class="runs">
        <thead>
          <tr>
            <th>
              <span class="hidden">Compare</span>
            </th>
            <th>Run</th>
            <th>State</th>
            <th class="number">Steps</th>
            <th>Trend</th>
            <th class="number">Latest</th>
            <th class="number">Cost</th>
            <th class="number">Updated</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run }: { readonly run: RunSummary }) {
  const { id, name, model, rank, state, steps, totalSteps, headline, costUsd, updatedAtMs, problems } = run;
  const isCompared = route.value.compare.includes(id);
  const toggle = (): void => {
    const { compare } = route.value;
    goTo({ compare: isCompared ? compare.filter((one) => one !== id) : [...compare, id], run: route.value.run ?? id });
  };
  return (
    <tr>
      <td class="check">
        <input type="checkbox" checked={isCompared} onChange={toggle} aria-label={`Compare ${name}`} />
      </td>
      <td>
        <a class="run-name" href={linkTo({ view: 'metrics', run: id })}>
          {name}
        </a>
        <div class="muted small">{[model, rank === undefined ? undefined : `rank ${rank}`].filter(Boolean).join(' · ') || '–'}</div>
      </td>
      <td>
        <span class={`badge ${state}`}>{STATES[state]}</span>
        {problems > 0 && (
          <a class="badge warn" href={linkTo({ view: 'export', run: id })}>
            {problems} unreadable {problems === 1 ? 'line' : 'lines'}
          </a>
        )}
      </td>
      <td class="number">
        {steps.toLocaleString('en-US')}
        {totalSteps !== undefined && <span class="muted"> / {totalSteps.toLocaleString('en-US')}</span>}
        {totalSteps !== undefined && (
          <div class="meter" aria-hidden="true">
            <i style={{ width: `${Math.min(100, (100 * steps) / totalSteps)}%` }} />
          </div>
        )}
      </td>
      <td>
        {headline === undefined ? (
          <span class="muted">–</span>
        ) : (
          <SparkLine
            values={headline.spark}
            label={`${headline.metric}: ${formatNumber(headline.first)} to ${formatNumber(headline.last)}`}
          />
        )}
      </td>
      <td class="number">
        {headline === undefined ? (
          '–'
        ) : (
          <>
            <span class="strong">{formatNumber(headline.last)}</span>
            <div class="muted small">{headline.metric}</div>
          </>
        )}
      </td>
      <td class="number">{costUsd === undefined ? <span class="muted">–</span> : formatUsd(costUsd)}</td>
      <td class="number muted">{updatedAtMs === undefined ? '–' : formatAgo(updatedAtMs, nowMs.value)}</td>
    </tr>
  );
}
