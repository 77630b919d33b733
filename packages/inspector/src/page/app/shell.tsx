import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { CheckpointsView } from '../checkpoints/checkpoints-view.js';
import { ExamplesView } from '../examples/examples-view.js';
import { ExportView } from '../export/export-view.js';
import { MetricsView } from '../metrics/metrics-view.js';
import { NowView } from '../now/now-view.js';
import { PlaygroundView } from '../playground/playground-view.js';
import { ProtocolView } from '../protocol/protocol-view.js';
import { RolloutsView } from '../rollouts/rollouts-view.js';
import { RunsView } from '../runs/runs-view.js';
import { TimelineView } from '../timeline/timeline-view.js';
import { Mark, ViewIcon } from './icons.js';
import { isHelpOpen, SHORTCUTS } from './keyboard.js';
import { linkTo, route, VIEWS, type ViewName } from './route.js';
import { RunPicker } from './run-picker.js';
import { connection, currentRun, features } from './store.js';
import { nextTheme, theme } from './theme.js';

const CONTENT: Readonly<Record<ViewName, FunctionComponent>> = {
  runs: RunsView,
  metrics: MetricsView,
  now: NowView,
  timeline: TimelineView,
  examples: ExamplesView,
  rollouts: RolloutsView,
  checkpoints: CheckpointsView,
  playground: PlaygroundView,
  protocol: ProtocolView,
  export: ExportView,
};

const STATUS = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting', report: 'Report' } as const;
const THEME_NAMES = { auto: 'System', light: 'Light', dark: 'Dark' } as const;

/** The frame around the views: name, navigation, the run that they are about. */
export function Shell() {
  const { view } = route.value;
  const Content = CONTENT[view];
  useEffect(showCurrentLink, [view]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <div class="brand">
          <Mark />
          Tinkex inspector
        </div>
        <div class="bar">
          {view !== 'runs' && <RunPicker />}
          <span class="spacer" />
          <span class="status" role="status">
            <span class={`dot ${connection.value}`} />
            {STATUS[connection.value]}
          </span>
          <button type="button" class="button quiet" onClick={nextTheme} aria-label={`Colors: ${THEME_NAMES[theme.value]}. Change them.`}>
            {THEME_NAMES[theme.value]}
          </button>
        </div>
      </header>
      <nav class="rail" aria-label="Views">
        <ul>
          {VIEWS.map((name, index) => (
            <li key={name}>
              <a
                href={linkTo({ view: name })}
                aria-current={name === view ? 'page' : undefined}
                class={isFaint(name) ? 'faint' : undefined}
              >
                <ViewIcon view={name} />
                {titleOf(name)}
                <span class="key" aria-hidden="true">
                  {(index + 1) % 10}
                </span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Content />
      </main>
      {isHelpOpen.value && <Help />}
    </div>
  );
}

/** `checkpoints` is shown as "Checkpoints". */
export function titleOf(view: ViewName): string {
  return view.charAt(0).toUpperCase() + view.slice(1);
}

/** On a narrow screen the navigation scrolls; the current view stays visible. `scrollIntoView` would also move the focus order. */
function showCurrentLink(): void {
  const link = document.querySelector<HTMLElement>('.rail [aria-current]');
  const list = link?.closest('ul');
  if (link && list) list.scrollLeft = link.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
}

/** Views that have nothing to show for this run are still there, and say why. */
function isFaint(view: ViewName): boolean {
  const has = currentRun.value?.has;
  if (view === 'playground') return !features.value.canChat;
  if (has === undefined) return false;
  if (view === 'now' || view === 'protocol') return !has.events;
  if (view === 'timeline' || view === 'rollouts' || view === 'examples') return !has[view];
  return false;
}

function Help() {
  return (
    <section class="help" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {SHORTCUTS.map(([keys, does]) => [
          <dt key={keys}>
            <kbd>{keys}</kbd>
          </dt>,
          <dd key={does}>{does}</dd>,
        ])}
      </dl>
    </section>
  );
}
