import type { KeptResult } from './results.js';
import { linesOf, rowsOf } from './table.js';

/** All results as a Markdown page. */
export function page(benchmarks: readonly KeptResult[]): string {
  return `# Results of \`pnpm bench\`

Written by the command. [The guide](../../docs/guides/performance.md) explains how to read it. A load above the number of cores means that other processes were busy.

${benchmarks.map(section).join('\n')}`;
}

function section(benchmark: KeptResult): string {
  const { node, cores, pythonSdk } = benchmark.machine;
  const rows = rowsOf(benchmark).map((row) => `| ${Object.values(row).join(' | ')} |`);
  return `## ${benchmark.title}

\`pnpm bench ${benchmark.id}\`: ${benchmark.rounds} rounds on ${benchmark.measuredAt.slice(0, 10)}, Node ${node}, ${cores} cores, load ${benchmark.load.toFixed(1)}, Python SDK ${pythonSdk}

| what | against | median | interquartile range | goal | met |
|---|---|---|---|---|---|
${rows.join('\n')}

${linesOf(benchmark)
  .map((line) => `- ${line}`)
  .join('\n')}
`;
}
