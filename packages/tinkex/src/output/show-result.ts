import { writeFile } from 'node:fs/promises';
import type { CommandContext } from '../commands/command-context.js';
import { csvText } from './csv.js';
import { counted } from './format-time.js';
import { type Column, renderTable } from './table.js';

/** A JSON object as the command prints it. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** A list to show. */
export interface ListResult<Row> {
  /** Stands above the table. */
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** The result of `--json`. */
  readonly json: JsonFields;
  /** One row of `--csv`. Default: the cells of the table. */
  readonly csv?: ((row: Row) => JsonFields) | undefined;
}

/** Shows a list as the user wants it. */
export async function showList<Row>(context: CommandContext, { title, columns, rows, json, csv }: ListResult<Row>): Promise<void> {
  const { format, terminal } = context;
  if (format === 'json') {
    showJson(context, json);
    return;
  }
  if (format === 'csv') {
    const cells = (row: Row): JsonFields => Object.fromEntries(columns.map(({ header, value }) => [header, value(row)]));
    await showCsv(
      context,
      csvText(rows.map(csv ?? cells), rows.length === 0 ? columns.map(({ header }) => header) : undefined),
      rows.length,
    );
    return;
  }
  // In a pipe the title would be one more line to skip.
  if (terminal.isTty || rows.length === 0) terminal.print(terminal.style.bold(title));
  if (rows.length === 0 || columns.length === 0) return;
  terminal.write(renderTable(columns, rows, { isBoxed: terminal.isTty, columns: terminal.columns, style: terminal.style }));
}

/** One thing to show, property by property. */
export interface RecordResult {
  readonly title: string;
  readonly properties: readonly (readonly [name: string, value: string])[];
  readonly json: JsonFields;
}

/** Shows one thing as the user wants it. */
export async function showRecord(context: CommandContext, { title, properties, json }: RecordResult): Promise<void> {
  const columns: Column<readonly [string, string]>[] = [
    { header: 'Property', value: ([name]) => name },
    { header: 'Value', value: ([, value]) => value },
  ];
  await showList(context, { title, columns, rows: properties, json });
}

/** Writes a value as JSON, indented by two spaces. */
export function showJson({ terminal }: CommandContext, json: unknown): void {
  terminal.print(JSON.stringify(json, null, 2));
}

/** Writes CSV to stdout, or to the file that `--csv` names. */
export async function showCsv(context: CommandContext, text: string, rows: number, file = context.csvFile): Promise<void> {
  if (file === undefined || file === '-') {
    context.terminal.write(text);
    return;
  }
  await writeFile(file, text);
  context.terminal.note(`Wrote ${counted(rows, 'row')} to ${file}.`);
}
