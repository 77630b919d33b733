import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Metrics, MetricsSink } from './metrics-sink.js';

/** Writes the metrics of each step as a row of a CSV file. A metric that appears later becomes a new column; a step that is already there is replaced. */
export function csvSink(path: string): MetricsSink {
  let table: CsvTable | undefined;
  return {
    async logMetrics(metrics, step) {
      table ??= await readTable(path);
      table.set(step, metrics);
      await replaceFile(path, table.toText());
    },
  };
}

/** Rows by step, with one column per metric in the order in which they appeared. */
class CsvTable {
  readonly #columns: string[] = [];
  readonly #rows = new Map<string, Map<string, string>>();

  set(step: number, metrics: Metrics): void {
    this.setRow(String(step), new Map(Object.entries(metrics).map(([name, value]) => [name, Number.isFinite(value) ? String(value) : ''])));
  }

  setRow(step: string, cells: Map<string, string>): void {
    for (const name of cells.keys()) if (!this.#columns.includes(name)) this.#columns.push(name);
    // A step of a resumed run replaces the one that was written before.
    this.#rows.set(step, cells);
  }

  toText(): string {
    const lines = [...this.#rows].map(([step, cells]) => [step, ...this.#columns.map((name) => cells.get(name) ?? '')]);
    return [['step', ...this.#columns], ...lines].map((line) => `${line.map(quote).join(',')}\n`).join('');
  }
}

async function readTable(path: string): Promise<CsvTable> {
  const table = new CsvTable();
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const [header = [], ...rows] = text.split('\n').filter(Boolean).map(splitCells);
  for (const [step = '', ...cells] of rows) {
    table.setRow(step, new Map(cells.flatMap((cell, index) => (cell === '' ? [] : [[header[index + 1] as string, cell]]))));
  }
  return table;
}

function quote(cell: string): string {
  return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function splitCells(line: string): string[] {
  return Array.from(
    line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g),
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text);
  await rename(`${path}.tmp`, path);
}
