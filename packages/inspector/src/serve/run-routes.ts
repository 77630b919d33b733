import { csvOf } from '../export/csv.js';
import { perfettoTrace } from '../export/perfetto-trace.js';
import { reducePoints } from '../metrics/reduce-points.js';
import type { InspectedRun } from '../runs/inspected-run.js';
import { fileResponse, problemResponse } from './responses.js';

/** A question about one run. */
interface RunQuestion {
  readonly run: InspectedRun;
  readonly query: URLSearchParams;
  readonly hasContent: boolean;
}

type Answer = (question: RunQuestion) => Response | Promise<Response>;

const DEFAULT_POINTS = 2_000;
const MAX_POINTS = 200_000;

/** `GET /api/runs/ID/…` */
const ROUTES: Readonly<Record<string, Answer>> = {
  detail: ({ run }) => Response.json(run.detail()),
  series: ({ run, query }) => seriesResponse(run, query),
  timeline: ({ run, query }) => Response.json(run.timeline(numberIn(query, 'after', 0))),
  protocol: ({ run }) => Response.json(run.protocol() ?? null),
  examples: ({ run, hasContent }) => Response.json(hasContent ? run.examples() : []),
  rollouts: async ({ run, query, hasContent }) => {
    const view = await run.rollouts(numberIn(query, 'iteration', 0), query.get('split') ?? 'train', hasContent);
    return view === undefined ? problemResponse(404, 'This run has no such rollouts.') : Response.json(view);
  },
  'metrics.csv': ({ run }) => fileResponse(csvOf(run.metrics), 'metrics.csv', 'text/csv; charset=utf-8'),
  'trace.json': ({ run }) => fileResponse(JSON.stringify(perfettoTrace(run.timeline(0).spans)), 'trace.json', 'application/json'),
};

/** Answers a question about a run; undefined if there is no such question. */
export function answerRun(name: string, question: RunQuestion): Response | Promise<Response> | undefined {
  return Object.hasOwn(ROUTES, name) ? ROUTES[name]?.(question) : undefined;
}

/** The points of one metric as 64-bit floats, all steps and then all values: nothing to parse, however many there are. */
function seriesResponse({ metrics }: InspectedRun, query: URLSearchParams): Response {
  const series = metrics.get(query.get('metric') ?? '');
  if (series === undefined) return problemResponse(404, 'This run has no such metric.');
  const points = Math.min(Math.max(numberIn(query, 'points', DEFAULT_POINTS), 2), MAX_POINTS);
  const { steps, values } = reducePoints(series, points, numberIn(query, 'from', -Infinity), numberIn(query, 'to', Infinity));
  const bytes = new Float64Array(steps.length * 2);
  bytes.set(steps);
  bytes.set(values, steps.length);
  return new Response(bytes, { headers: { 'content-type': 'application/octet-stream' } });
}

function numberIn(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name);
  const value = text === null || text === '' ? Number.NaN : Number(text);
  return Number.isNaN(value) ? otherwise : value;
}
