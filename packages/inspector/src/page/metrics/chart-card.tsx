import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunSummary } from '../../api/run-views.js';
import { source } from '../app/store.js';
import { isDark } from '../app/theme.js';
import { seriesColor } from '../chart/colors.js';
import { type Line, LineChart } from '../chart/line-chart.js';
import { savePng, saveSvg } from '../chart/save-chart.js';
import type { Points } from '../data/page-source.js';
import { useFetched } from '../data/use-fetched.js';
import { formatNumber } from '../format/format.js';
import { isLog, range, smoothing } from './chart-settings.js';

/** As many points as a wide screen has columns, twice. */
const POINTS = 3_000;
const NOTHING: Points = { steps: new Float64Array(), values: new Float64Array() };

/** One metric of one or several runs. Nothing is fetched before the card is on the screen. */
export function ChartCard({ metric, runs }: { readonly metric: string; readonly runs: readonly RunSummary[] }) {
  const place = useRef<HTMLElement>(null);
  const isSeen = useSeen(place);
  const [from, to] = range.value ?? [];
  const subject = `${metric} ${runs.map(({ id }) => id).join(' ')}`;
  const key = `${runs.map(({ revision }) => revision).join(' ')} ${from} ${to}`;
  const { value, error } = useFetched(subject, isSeen ? key : undefined, () =>
    // A run without this metric has no line.
    Promise.all(runs.map(({ id }) => source.points({ id, metric, points: POINTS, from, to }).catch(() => NOTHING))),
  );
  const dark = isDark.value;
  const lines = useMemo(
    (): Line[] => runs.map(({ name }, index) => ({ name, color: seriesColor(index), points: value?.[index] ?? NOTHING })),
    [value, subject, dark],
  );
  return (
    <section class="card chart-card" ref={place} aria-label={metric}>
      <div class="chart-head">
        <h3 title={metric}>{metric}</h3>
        <span class="muted small" data-cursor />
        <span class="spacer" />
        <span class="chart-latest">
          {lines.map(({ name, color, points }) => (
            <span key={name} class="strong" style={lines.length > 1 ? { color } : {}}>
              {points.values.length === 0 ? '' : formatNumber(points.values.at(-1) ?? 0)}
            </span>
          ))}
        </span>
        <span class="chart-save">
          <button type="button" class="button quiet" onClick={() => savePng(place.current, metric)} aria-label={`Save ${metric} as PNG`}>
            PNG
          </button>
          <button
            type="button"
            class="button quiet"
            onClick={() => saveSvg(metric, lines, isLog.value)}
            aria-label={`Save ${metric} as SVG`}
          >
            SVG
          </button>
        </span>
      </div>
      {error !== undefined && <p class="small muted card-body">{error}</p>}
      {isSeen && (
        <LineChart
          label={metric}
          lines={lines}
          isLog={isLog.value}
          smoothing={smoothing.value}
          range={range.value}
          onZoom={(zoomed) => {
            range.value = zoomed;
          }}
        />
      )}
    </section>
  );
}

/** Whether the element has been on the screen. */
function useSeen(place: { readonly current: HTMLElement | null }): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        setSeen(true);
        watch.disconnect();
      },
      { rootMargin: '200px' },
    );
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return isSeen;
}
