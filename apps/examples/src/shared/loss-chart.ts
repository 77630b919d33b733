const MARKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A line of bars, one for each value, scaled from zero to the largest. */
export function sparkline(values: readonly number[]): string {
  const top = Math.max(...values, Number.MIN_VALUE);
  return values.map((value) => MARKS[Math.min(MARKS.length - 1, Math.floor((Math.max(0, value) / top) * MARKS.length))]).join('');
}

/** The curve as a picture of its own: SVG text, axes from zero, values in call order. */
export function lossCurveSvg(title: string, values: readonly number[]): string {
  const [width, height, margin] = [640, 320, 48];
  const top = Math.max(...values, Number.MIN_VALUE);
  const x = (step: number): number => margin + (step / Math.max(1, values.length - 1)) * (width - 2 * margin);
  const y = (value: number): number => height - margin - (value / top) * (height - 2 * margin);
  const points = values.map((value, step) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const label = (left: number, bottom: number, anchor: string, text: string): string =>
    `<text x="${left}" y="${bottom}" text-anchor="${anchor}" font-family="sans-serif" font-size="12" fill="#444">${text}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<path d="M${margin} ${margin}V${height - margin}H${width - margin}" fill="none" stroke="#999"/>`,
    `<polyline points="${points}" fill="none" stroke="#2563eb" stroke-width="2"/>`,
    label(width / 2, 24, 'middle', title),
    label(margin - 6, y(top) + 4, 'end', top.toPrecision(3)),
    label(margin - 6, y(0) + 4, 'end', '0'),
    label(margin, height - margin + 18, 'middle', '1'),
    label(width - margin, height - margin + 18, 'middle', `step ${values.length}`),
    '</svg>',
    '',
  ].join('\n');
}
