import { goTo, route } from '../app/route.js';
import { chartRuns, currentRun, runs, source } from '../app/store.js';
import { isDark } from '../app/theme.js';
import { seriesColor } from '../chart/colors.js';
import { useFetched } from '../data/use-fetched.js';
import { Empty } from '../parts/empty.js';
import { Segments } from '../parts/segments.js';
import { ViewHead } from '../parts/view-head.js';
import { ChartCard } from './chart-card.js';
import { isLog, metricFilter, range, smoothing } from './chart-settings.js';
import { groupMetrics } from './metric-groups.js';

/** The curves of a run, and of others beside it. */
export function MetricsView() {
  const shown = chartRuns.value;
  const subject = shown.map(({ id }) => id).join(' ');
  const key = shown.map(({ revision }) => revision).join(' ');
  const { value } = useFetched(subject, shown.length === 0 ? undefined : key, () => Promise.all(shown.map(({ id }) => source.detail(id))));
  const names = [...new Set((value ?? []).flatMap(({ metrics }) => metrics.map(({ name }) => name)))];
  const wanted = metricFilter.value.toLowerCase();
  const groups = groupMetrics(names.filter((name) => name.toLowerCase().includes(wanted)));
  return (
    <div class="view">
      <ViewHead title="Metrics">
        <Controls />
      </ViewHead>
      {runs.value.length > 1 && <Comparison />}
      {shown.length === 0 && <Empty title="No runs yet">Curves appear here with the first step of a run.</Empty>}
      {value !== undefined && names.length === 0 && (
        <Empty title="No metrics yet">The run has not finished its first step, or its program trains nothing.</Empty>
      )}
      {groups.map(({ title, metrics, isOpen }) => (
        <details key={title} class="metric-group" open={isOpen || wanted !== ''}>
          <summary>
            <h2>{title}</h2>
            <span class="muted small">{metrics.length}</span>
          </summary>
          <div class="charts">
            {metrics.map((metric) => (
              <ChartCard key={metric} metric={metric} runs={shown} />
            ))}
          </div>
        </details>
      ))}
    </div>
  );
}

function Controls() {
  return (
    <>
      {range.value !== undefined && (
        <button
          type="button"
          class="button"
          onClick={() => {
            range.value = undefined;
          }}
        >
          Show all steps
        </button>
      )}
      <label class="control">
        Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value={smoothing.value}
          onInput={({ currentTarget }) => {
            smoothing.value = Number(currentTarget.value);
          }}
        />
      </label>
      <Segments
        label="Scale"
        options={[
          ['linear', 'Linear'],
          ['log', 'Log'],
        ]}
        value={isLog.value ? 'log' : 'linear'}
        onChange={(scale) => {
          isLog.value = scale === 'log';
        }}
      />
      <input
        class="field"
        type="search"
        placeholder="Filter"
        aria-label="Filter the metrics"
        data-filter
        value={metricFilter.value}
        onInput={({ currentTarget }) => {
          metricFilter.value = currentTarget.value;
        }}
      />
    </>
  );
}

function Comparison() {
  const shown = chartRuns.value;
  const others = runs.value.filter((run) => !shown.includes(run));
  // The colors follow the theme.
  void isDark.value;
  return (
    <div class="comparison">
      {shown.map(({ id, name }, index) => (
        <span key={id} class="chip">
          <span class="swatch" style={{ background: seriesColor(index) }} />
          <span>{name}</span>
          {id !== currentRun.value?.id && (
            <button
              type="button"
              aria-label={`Remove ${name} from the comparison`}
              onClick={() => goTo({ compare: route.value.compare.filter((one) => one !== id) })}
            >
              ×
            </button>
          )}
        </span>
      ))}
      {others.length > 0 && (
        <select
          aria-label="Compare with"
          value=""
          onChange={({ currentTarget }) => goTo({ compare: [...route.value.compare, currentTarget.value] })}
        >
          <option value="">Compare with…</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
