import type { ViewName } from './route.js';

const PATHS: Readonly<Record<ViewName, string>> = {
  runs: 'M4 6h16M4 12h16M4 18h10',
  metrics: 'M4 19V5M4 19h16M7 14c3 0 3-6 6-6s3 3 6 0',
  now: 'M3 12h4l3-8 4 16 3-8h4',
  timeline: 'M4 6h9M8 12h12M4 18h6M14 18h6',
  examples: 'M4 6h6v5H4zM13 6h7v5h-7zM4 14h9v5H4zM16 14h4v5h-4z',
  rollouts: 'M12 4v6M12 10c0 5-7 3-7 10M12 10c0 5 7 3 7 10M12 10v10',
  checkpoints: 'M6 4h12v16l-6-4-6 4z',
  playground: 'M4 5h16v11H9l-5 4z',
  protocol: 'M4 8h13l-4-4M20 16H7l4 4',
  export: 'M12 4v11M8 11l4 4 4-4M5 20h14',
};

/** The picture of a view. */
export function ViewIcon({ view }: { readonly view: ViewName }) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[view]} />
    </svg>
  );
}

/** The mark of the project: a loss that falls. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#4f46e5" />
      <path d="M6 9c5 0 5 13 10 13s5-6 10-6" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" />
      <circle cx="26" cy="16" r="2.4" fill="#a5f3c4" />
    </svg>
  );
}
