import type { Features } from '../api/run-views.js';
import { reportData, reportHtml } from '../export/report.js';
import { readPageFile } from './page-files.js';
import { fileResponse, problemResponse } from './responses.js';
import type { RunRegistry } from './run-registry.js';

/** A report of the runs that the query names (`?run=ID&run=ID`), or of all. */
export async function answerReport(registry: RunRegistry, features: Features, query: URLSearchParams, atMs: number): Promise<Response> {
  const wanted = query.getAll('run');
  const runs = registry.runs().filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  const [script, style] = await Promise.all([readPageFile('assets/page.js'), readPageFile('assets/page.css')]);
  if (script === undefined || style === undefined) return problemResponse(503, 'The page is not built.');
  return fileResponse(reportHtml(reportData(runs, features, atMs), { script, style }), 'tinkex-report.html', 'text/html; charset=utf-8');
}
