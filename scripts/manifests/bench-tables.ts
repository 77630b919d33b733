import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StaleFile } from './derived.js';

/** A line of a table in the documentation, and the comparison of the last full run that fills it. */
interface Row {
  /** In the reader's words. */
  readonly what: string;
  readonly bench: string;
  readonly metric: string;
  /** The contender that is ours; most are called so. Default `tinkex`. */
  readonly of?: string;
  readonly against: string;
}

interface Comparison {
  readonly metric: string;
  readonly of: string;
  readonly against: string;
  readonly value: { readonly median: number; readonly low: number; readonly high: number };
  readonly goal?: { readonly atMost?: number; readonly atLeast?: number };
  readonly isMet?: boolean;
}

const RESULTS = 'bench/results/latest.json';
const BLOCK = /(<!-- bench (\w+)[^\n]*-->\n)[\s\S]*?(<!-- end of bench -->)/g;

const samples = (inFlight: string, bench: string, against: string): readonly Row[] => [
  { what: `CPU per sample, ${inFlight} in flight`, bench, metric: 'cpuMicrosPerCall', against },
  { what: `samples per second, ${inFlight} in flight`, bench, metric: 'callsPerSecond', against },
];

/** The tables by the name in their markers. */
const TABLES: Readonly<Record<string, readonly Row[]>> = {
  python: [
    ...samples('64', 'sample-64', 'python'),
    ...samples('1,000', 'sample-1000', 'python'),
    { what: 'CPU of a training step', bench: 'training', metric: 'cpuMsPerStep', against: 'python' },
    { what: 'CPU to import', bench: 'import', metric: 'cpuMs', against: 'python' },
  ],
  floor: [
    ...samples('1', 'sample-1', 'undici'),
    ...samples('64', 'sample-64', 'undici'),
    ...samples('1,000', 'sample-1000', 'undici'),
    { what: 'CPU of a training step of 1,024 x 1,024 tokens', bench: 'training', metric: 'cpuMsPerStep', against: 'undici' },
    { what: 'CPU to import, against undici and zod', bench: 'import', metric: 'cpuMs', against: 'parts' },
    { what: "CPU to import, against openai's client", bench: 'import', metric: 'cpuMs', against: 'openai' },
  ],
};

/** Documents whose tables differ from the results of the last full run. */
export function staleBenchTables(baseDir: string, documents: readonly string[]): StaleFile[] {
  const results = join(baseDir, RESULTS);
  if (!existsSync(results)) return [];
  const { benchmarks } = JSON.parse(readFileSync(results, 'utf8')) as { benchmarks: { id: string; outcomes: Comparison[] }[] };
  const outcomes = new Map(benchmarks.map((one) => [one.id, one.outcomes]));
  return documents.flatMap((file) => {
    const text = readFileSync(join(baseDir, file), 'utf8');
    const wanted = text.replace(BLOCK, (_, begin: string, name: string, end: string) => `${begin}${benchTable(name, outcomes)}${end}`);
    return wanted === text ? [] : [{ file, problem: `its tables differ from ${RESULTS}`, wanted }];
  });
}

function benchTable(name: string, outcomes: ReadonlyMap<string, readonly Comparison[]>): string {
  const rows = TABLES[name];
  if (rows === undefined) throw new Error(`There is no table "${name}"; there are ${Object.keys(TABLES).join(', ')}.`);
  const lines = rows.map(({ what, bench, metric, of = 'tinkex', against }) => {
    const found = outcomes.get(bench)?.find((one) => one.metric === metric && one.of === of && one.against === against);
    return `| ${what} | ${found === undefined ? 'not measured | |' : `${ratio(found)} | ${goal(found)} |`} \`npm run bench ${bench}\` |\n`;
  });
  return `\n| what | median ratio (interquartile range) | goal | command |\n|---|---|---|---|\n${lines.join('')}\n`;
}

function ratio({ value: { median, low, high } }: Comparison): string {
  return `${times(median)} (${times(low)} to ${times(high)})`;
}

function goal({ goal: wanted, isMet }: Comparison): string {
  if (wanted === undefined) return '';
  const limit = wanted.atMost === undefined ? `at least ${wanted.atLeast}x` : `at most ${wanted.atMost}x`;
  return isMet === true ? limit : `${limit}: missed`;
}

const times = (value: number): string => `${Number(value.toPrecision(3))}x`;
