import type { ReportData, ReportRun } from '../api/report.js';
import type { Features } from '../api/run-views.js';
import { reducePoints } from '../metrics/reduce-points.js';
import type { InspectedRun } from '../runs/inspected-run.js';

const MAX_POINTS = 1_000;
const MAX_SPANS = 1_000;

/** The files of the page, as texts. */
export interface PageTexts {
  readonly script: string;
  readonly style: string;
}

/** What a report shows of some runs. Long series are thinned out, so that the file stays small. */
export function reportData(runs: readonly InspectedRun[], features: Features, atMs: number): ReportData {
  return { atMs, features: { ...features, canChat: false, canDownload: false }, runs: runs.map((run) => reportRun(run, features, atMs)) };
}

function reportRun(run: InspectedRun, { hasContent }: Features, atMs: number): ReportRun {
  const { metrics } = run;
  const timeline = run.timeline(0);
  const { path: _path, ...detail } = run.detail();
  return {
    summary: run.summary(atMs),
    detail,
    series: Object.fromEntries(metrics.names.map((name) => [name, pointsOf(run, name)])),
    timeline: { ...timeline, spans: timeline.spans.slice(-MAX_SPANS) },
    protocol: run.protocol(),
    examples: hasContent ? run.examples() : [],
  };
}

function pointsOf({ metrics }: InspectedRun, name: string): readonly [readonly number[], readonly number[]] {
  const series = metrics.get(name);
  if (series === undefined) return [[], []];
  const { steps, values } = reducePoints(series, MAX_POINTS);
  return [Array.from(steps), Array.from(values, (value) => Number(value.toPrecision(7)))];
}

/** One HTML file with the page and its data inside. It needs no server and no network. */
export function reportHtml(data: ReportData, { script, style }: PageTexts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tinkex report</title>
<style>${style.replaceAll('</style', '<\\/style')}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="report">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>
<script type="module">${script.replaceAll('</script', '<\\/script')}</script>
</body>
</html>
`;
}
