const MARKS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/**
 * The values as lines of text: bars from zero to the largest value, one column per value (or the mean of several when they do not fit).
 * The first line has the largest value as its label, the last one zero.
 */
export function barChart(values: readonly number[], { width, height }: { readonly width: number; readonly height: number }): string[] {
  const columns = squeeze(values, width);
  const top = Math.max(...columns, Number.MIN_VALUE);
  return Array.from({ length: height }, (_, row) => {
    const floor = height - 1 - row;
    const bars = columns.map((value) => {
      const eighths = Math.round(((Math.max(0, value) / top) * height - floor) * 8);
      // Any value above zero is visible, however small.
      return MARKS[Math.min(8, Math.max(floor === 0 && value > 0 ? 1 : 0, eighths))];
    });
    const label = row === 0 ? top.toPrecision(3) : row === height - 1 ? '0' : '';
    return `${label.padStart(7)} │${bars.join('')}`;
  });
}

function squeeze(values: readonly number[], width: number): readonly number[] {
  if (values.length <= width) return values;
  return Array.from({ length: width }, (_, column) => {
    const part = values.slice(
      Math.floor((column * values.length) / width),
      Math.max(1, Math.floor(((column + 1) * values.length) / width)),
    );
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}

/** The curve as an SVG document: axes from zero, values in call order. */
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
