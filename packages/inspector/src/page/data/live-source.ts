import type { StreamUpdate } from '../../api/run-views.js';
import type { PageSource, PointsQuery } from './page-source.js';

/** A server that is watching. Addresses are relative to the page, so that its token goes with them. */
export const liveSource: PageSource = {
  start(onUpdate, onConnection) {
    const stream = new EventSource('./api/stream');
    stream.onopen = () => onConnection('live');
    // The browser tries again by itself.
    stream.onerror = () => onConnection('lost');
    stream.onmessage = ({ data }: MessageEvent<string>) => onUpdate(JSON.parse(data) as StreamUpdate);
  },
  detail: (id) => get(`runs/${id}/detail`),
  points: async (query) => {
    const response = await checked(await fetch(`./api/runs/${query.id}/series?${pointsQuery(query)}`));
    const numbers = new Float64Array(await response.arrayBuffer());
    const middle = numbers.length / 2;
    return { steps: numbers.subarray(0, middle), values: numbers.subarray(middle) };
  },
  timeline: (id, after) => get(`runs/${id}/timeline?after=${after}`),
  protocol: (id) => get(`runs/${id}/protocol`),
  examples: (id) => get(`runs/${id}/examples`),
  rollouts: (id, iteration, split) => get(`runs/${id}/rollouts?iteration=${iteration}&split=${encodeURIComponent(split)}`),
  chat: async (request, signal) => (await post<{ samples: [] }>('chat', request, signal)).samples,
  download: async (path) => (await post<{ savedTo: string }>('download', { path })).savedTo,
  file: (name) => `./${name}`,
};

function pointsQuery({ metric, points, from, to }: PointsQuery): URLSearchParams {
  const query = new URLSearchParams({ metric, points: String(points) });
  if (from !== undefined) query.set('from', String(from));
  if (to !== undefined) query.set('to', String(to));
  return query;
}

async function get<T>(path: string): Promise<T> {
  return (await checked(await fetch(`./api/${path}`))).json() as Promise<T>;
}

async function post<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await checked(await fetch(`./api/${path}`, signal === undefined ? request : { ...request, signal }))).json() as Promise<T>;
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(body.error ?? `The inspector answered with status ${response.status}.`);
}
