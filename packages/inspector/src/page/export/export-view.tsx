import { linkTo } from '../app/route.js';
import { chartRuns, currentRun, source } from '../app/store.js';
import { useFetched } from '../data/use-fetched.js';
import { Empty } from '../parts/empty.js';
import { ViewHead } from '../parts/view-head.js';

/** Files to keep, and what the run was started with. */
export function ExportView() {
  const run = currentRun.value;
  const { value } = useFetched(run?.id ?? '', run === undefined ? undefined : String(run.revision), () => source.detail(run?.id ?? ''));
  const report = source.file(`report.html?${chartRuns.value.map(({ id }) => `run=${id}`).join('&')}`);
  return (
    <div class="view">
      <ViewHead title="Export" />
      {run === undefined ? (
        <Empty title="No runs yet" />
      ) : report === undefined ? (
        <Empty title="This is a report">Open the run folder with the inspector to export files.</Empty>
      ) : (
        <div class="exports">
          <ExportCard
            title="Report"
            text="This page with its data in one HTML file. It opens without a server and without a network."
            href={report}
          />
          <ExportCard title="CSV" text="All metrics, one row per step." href={source.file(`api/runs/${run.id}/metrics.csv`) ?? ''} />
          <ExportCard
            title="Perfetto trace"
            text="The timeline for ui.perfetto.dev and chrome://tracing."
            href={source.file(`api/runs/${run.id}/trace.json`) ?? ''}
          />
          <section class="card card-body export">
            <h2>Charts</h2>
            <p class="muted">Each chart in Metrics can be saved as PNG or SVG.</p>
            <a class="button" href={linkTo({ view: 'metrics', run: run.id })}>
              Open Metrics
            </a>
          </section>
        </div>
      )}
      {value !== undefined && value.problems.length > 0 && (
        <section class="card">
          <div class="card-head">
            <h2>Unreadable lines</h2>
            <span class="badge warn">{value.problems.length}</span>
          </div>
          <ul class="card-body rules">
            {value.problems.map(({ file, line, message }) => (
              <li key={`${file} ${line}`}>
                <code>
                  {file}:{line}
                </code>{' '}
                <span class="muted">{message}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {value?.config !== undefined && (
        <section class="card">
          <div class="card-head">
            <h2>Configuration</h2>
            <span class="spacer" />
            {value.path !== undefined && <code class="muted">{value.path}</code>}
          </div>
          <dl class="card-body config">
            {Object.entries(value.config).map(([name, setting]) => [
              <dt key={name}>{name}</dt>,
              <dd key={`${name} value`}>{typeof setting === 'object' ? JSON.stringify(setting) : String(setting)}</dd>,
            ])}
          </dl>
        </section>
      )}
    </div>
  );
}

function ExportCard({ title, text, href }: { readonly title: string; readonly text: string; readonly href: string }) {
  return (
    <section class="card card-body export">
      <h2>{title}</h2>
      <p class="muted">{text}</p>
      <a class="button" href={href} download>
        Save
      </a>
    </section>
  );
}
