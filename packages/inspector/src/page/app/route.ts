import { signal } from '@preact/signals';

/** The views, in the order of the navigation. */
export const VIEWS = [
  'runs',
  'metrics',
  'now',
  'timeline',
  'examples',
  'rollouts',
  'checkpoints',
  'playground',
  'protocol',
  'export',
] as const;

/** The name of a view. */
export type ViewName = (typeof VIEWS)[number];

/** What the address says. */
export interface Route {
  readonly view: ViewName;
  readonly run: string | undefined;
  readonly compare: readonly string[];
}

/** What the page shows now. It is in the address, so that a reload and a copied link show the same. */
export const route = signal<Route>(readHash());

/** The address of a place in the page. What is left out stays as it is. */
export function linkTo(change: Partial<Route>): string {
  const { view, run, compare } = { ...route.value, ...change };
  const query = new URLSearchParams();
  if (run !== undefined) query.set('run', run);
  if (compare.length > 0) query.set('compare', compare.join(','));
  const text = query.toString();
  return `#/${view}${text === '' ? '' : `?${text}`}`;
}

/** Goes to a place in the page. */
export function goTo(change: Partial<Route>): void {
  location.hash = linkTo(change);
}

/** Follows the address. */
export function installRouting(): void {
  window.addEventListener('hashchange', () => {
    route.value = readHash();
  });
}

function readHash(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const fields = new URLSearchParams(query);
  return {
    view: VIEWS.find((view) => view === path) ?? 'runs',
    run: fields.get('run') ?? undefined,
    compare: fields.get('compare')?.split(',').filter(Boolean) ?? [],
  };
}
