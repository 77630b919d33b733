import { computed, signal } from '@preact/signals';
import type { Features, RunSummary, StreamUpdate } from '../../api/run-views.js';
import { liveSource } from '../data/live-source.js';
import type { Connection, PageSource } from '../data/page-source.js';
import { reportSource } from '../data/report-source.js';
import { route } from './route.js';

/** Where the data come from. */
export const source: PageSource = reportSource() ?? liveSource;

/** How the page and its data are connected. */
export const connection = signal<Connection>('connecting');

/** What the server can do, besides showing. */
export const features = signal<Features>({ canChat: false, canDownload: false, hasContent: false, models: [] });

/** All runs, live ones first, then those that changed last. */
export const runs = signal<readonly RunSummary[]>([]);

/** The server's time at the last message, less the time here: clocks may differ. */
export const clockOffsetMs = signal(0);

/** The run that the views show: the one in the address, else the first. */
export const currentRun = computed(() => runs.value.find(({ id }) => id === route.value.run) ?? runs.value[0]);

/** The runs in one chart: the current one, and those to compare it with. */
export const chartRuns = computed(() => {
  const current = currentRun.value;
  if (current === undefined) return [];
  const others = runs.value.filter(({ id }) => id !== current.id && route.value.compare.includes(id));
  return [current, ...others];
});

/** Starts to follow the data. */
export function connect(): void {
  source.start(apply, (state) => {
    connection.value = state;
  });
}

function apply({ atMs, features: offered, changed, removed }: StreamUpdate): void {
  clockOffsetMs.value = atMs - Date.now();
  if (JSON.stringify(offered) !== JSON.stringify(features.value)) features.value = offered;
  const known = new Map(runs.value.map((run) => [run.id, run]));
  for (const id of removed) known.delete(id);
  for (const run of changed) known.set(run.id, run);
  runs.value = [...known.values()].sort(byImportance);
}

function byImportance(a: RunSummary, b: RunSummary): number {
  const isLive = (run: RunSummary): number => (run.source === 'live' ? 1 : 0);
  return isLive(b) - isLive(a) || (b.updatedAtMs ?? 0) - (a.updatedAtMs ?? 0) || a.name.localeCompare(b.name);
}
