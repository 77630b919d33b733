import { printable } from './printable.js';
import type { Style } from './style.js';
import { breakAtWidth, padToWidth, textWidth } from './text-width.js';

/** One column of a table. */
export interface Column<Row> {
  /** What people read. */
  readonly header: string;
  readonly value: (row: Row) => string;
  /** Numbers stand on the right. Default false. */
  readonly isRight?: boolean | undefined;
}

/** How a table is drawn. */
export interface TableOptions {
  /** With lines around it, fitted to `columns`; without, aligned text for pipes that keeps every cell whole. */
  readonly isBoxed: boolean;
  /** The width of the terminal. */
  readonly columns: number;
  readonly style: Style;
}

const MIN_COLUMN_WIDTH = 8;
/** As narrow as a column, or the first, becomes before lines would run over the edge. */
const LEAST_COLUMN_WIDTH = 3;
const MIN_FIRST_WIDTH = 16;
/** `│ ` and ` │`, and ` │ ` between columns. */
const EDGE = 4;
const GAP = 3;

/** A table as text, each line ending with a line break. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], options: TableOptions): string {
  const cells = rows.map((row) => columns.map(({ value }) => printable(value(row))));
  const headers = columns.map(({ header }) => header);
  const natural = columns.map((_, at) => Math.max(...[headers, ...cells].map((line) => textWidth(line[at] ?? ''))));
  const isRight = columns.map((column) => column.isRight === true);
  const { style } = options;
  if (!options.isBoxed) {
    const lines = [headers, ...cells].map((line) => line.map((cell, at) => padToWidth(cell, natural[at] ?? 0, isRight[at])).join('  '));
    return lines.map((line) => `${line.trimEnd()}\n`).join('');
  }
  const widths = fitWidths(natural, options.columns);
  const border = (left: string, middle: string, right: string): string =>
    `${style.dim(`${left}${widths.map((width) => '─'.repeat(width + 2)).join(middle)}${right}`)}\n`;
  const bar = style.dim('│');
  const draw = (line: readonly string[], paint: (text: string, at: number) => string): string => {
    const pieces = line.map((cell, at) => breakAtWidth(cell, widths[at] ?? 0));
    const height = Math.max(...pieces.map(({ length }) => length));
    return Array.from({ length: height }, (_, row) => {
      const parts = pieces.map((one, at) => paint(padToWidth(one[row] ?? '', widths[at] ?? 0, isRight[at]), at));
      return `${bar} ${parts.join(` ${bar} `)} ${bar}\n`;
    }).join('');
  };
  return [
    border('╭', '┬', '╮'),
    draw(headers, (text) => style.bold(text)),
    border('├', '┼', '┤'),
    ...cells.map((line) => draw(line, (text, at) => (at === 0 ? style.cyan(text) : text))),
    border('╰', '┴', '╯'),
  ].join('');
}

/** Takes columns from the widest until the table fits. The first, which people copy, stays whole unless the others become unreadable. */
function fitWidths(natural: readonly number[], columns: number): number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, width) => sum + width, EDGE + GAP * (widths.length - 1));
  const shrinkWidest = (first: number, floor: number): boolean => {
    const widest = widths.reduce((best, width, at) => (at >= first && width > (widths[best] ?? 0) ? at : best), first);
    if ((widths[widest] ?? 0) <= floor) return false;
    widths[widest] = (widths[widest] ?? 0) - 1;
    return true;
  };
  while (total() > columns) {
    if (shrinkWidest(1, MIN_COLUMN_WIDTH)) continue;
    if ((widths[0] ?? 0) > MIN_FIRST_WIDTH) widths[0] = (widths[0] ?? 0) - 1;
    else if (!shrinkWidest(0, LEAST_COLUMN_WIDTH)) break;
  }
  return widths;
}
