import type { ReportData, ReportRun } from '../../api/report.js';
import type { PageSource } from './page-source.js';

/** The data that a report carries inside itself; undefined if this page is not a report. */
export function reportSource(): PageSource | undefined {
  const text = document.getElementById('report')?.textContent;
  if (text === null || text === undefined) return undefined;
  const data = JSON.parse(text) as ReportData;
  const find = (id: string): ReportRun => {
    const run = data.runs.find(({ summary }) => summary.id === id);
    if (run === undefined) throw new Error('The report does not have this run.');
    return run;
  };
  return {
    start(onUpdate, onConnection) {
      onUpdate({ atMs: data.atMs, features: data.features, changed: data.runs.map(({ summary }) => summary), removed: [] });
      onConnection('report');
    },
    detail: async (id) => find(id).detail,
    points: async ({ id, metric, from = -Infinity, to = Infinity }) => {
      const [steps = [], values = []] = find(id).series[metric] ?? [];
      const isWanted = (_value: number, index: number): boolean => (steps[index] ?? 0) >= from && (steps[index] ?? 0) <= to;
      return { steps: Float64Array.from(steps.filter(isWanted)), values: Float64Array.from(values.filter(isWanted)) };
    },
    timeline: async (id) => find(id).timeline,
    protocol: async (id) => find(id).protocol ?? null,
    examples: async (id) => find(id).examples,
    rollouts: () => Promise.reject(new Error('A report has no rollouts. Open the run folder to see them.')),
    chat: () => Promise.reject(new Error('A report cannot chat.')),
    download: () => Promise.reject(new Error('A report cannot download.')),
    file: () => undefined,
  };
}
