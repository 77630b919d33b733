/** One cell: text as it is, or quoted where commas, quotes or line breaks are in it. Missing values are empty. */
function csvCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as CSV with a header. The columns are the keys of all rows, in the order in which they first appear, unless given. */
export function csvText(rows: readonly Readonly<Record<string, unknown>>[], columns?: readonly string[]): string {
  const names = columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return '';
  const lines = [names.map(csvCell), ...rows.map((row) => names.map((name) => csvCell(row[name])))];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}
