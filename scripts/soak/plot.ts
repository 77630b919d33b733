import type { Measurement } from './measure.js';

const WIDTH = 860;
const PANEL = 150;
const LEFT = 70;
const TOP = 40;
const GAP = 46;

const SERIES: readonly { readonly name: keyof Measurement; readonly label: string; readonly colour: string }[] = [
  { name: 'heapMegabytes', label: 'heap after collection, MB', colour: '#1f77b4' },
  { name: 'sockets', label: 'sockets', colour: '#d62728' },
  { name: 'timers', label: 'timers', colour: '#2ca02c' },
  { name: 'handles', label: 'handles', colour: '#9467bd' },
];

/** The measurements as an SVG picture: one panel for each thing watched, from zero, over the time of the run. */
export function plot(measurements: readonly Measurement[], title: string): string {
  const height = TOP + SERIES.length * (PANEL + GAP);
  const end = Math.max(1, ...measurements.map(({ seconds }) => seconds));
  const panels = SERIES.map(({ name, label, colour }, index) => {
    const top = TOP + index * (PANEL + GAP) + 20;
    const most = Math.max(1, ...measurements.map((measurement) => measurement[name])) * 1.1;
    const points = measurements.map((measurement) => {
      const x = LEFT + (measurement.seconds / end) * (WIDTH - LEFT - 20);
      return `${x.toFixed(1)},${(top + PANEL - (measurement[name] / most) * PANEL).toFixed(1)}`;
    });
    return [
      `<text x="${LEFT}" y="${top - 6}">${label}</text>`,
      `<rect x="${LEFT}" y="${top}" width="${WIDTH - LEFT - 20}" height="${PANEL}" fill="none" stroke="#ccc"/>`,
      `<text x="${LEFT - 8}" y="${top + 12}" text-anchor="end">${most.toFixed(0)}</text>`,
      `<text x="${LEFT - 8}" y="${top + PANEL}" text-anchor="end">0</text>`,
      `<text x="${WIDTH - 20}" y="${top + PANEL + 15}" text-anchor="end">${end.toFixed(0)} s</text>`,
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="${LEFT}" y="22" font-size="15">${title}</text>
${panels.join('\n')}
</svg>
`;
}
