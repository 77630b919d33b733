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
