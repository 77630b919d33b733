import type { KeptResult } from './results.js';
import { linesOf, rowsOf } from './table.js';

/** Everything that was measured, to be read in a browser. */
export function page(works: readonly KeptResult[]): string {
  return `# Results of \`pnpm bench\`

Written by the command; how to read it is in [the guide](../../docs/guides/performance.md). A load above the number of cores means that others were at work.

${works.map(section).join('\n')}`;
}

function section(work: KeptResult): string {
  const { node, cores, pythonSdk } = work.machine;
  const rows = rowsOf(work).map((row) => `| ${Object.values(row).join(' | ')} |`);
  return `## ${work.title}

\`pnpm bench --only ${work.id}\`: ${work.rounds} rounds on ${work.measuredAt.slice(0, 10)}, Node ${node}, ${cores} cores, load ${work.load.toFixed(1)}, Python SDK ${pythonSdk}

| what | against | median | half of the rounds | goal | met |
|---|---|---|---|---|---|
${rows.join('\n')}

${linesOf(work)
  .map((line) => `- ${line}`)
  .join('\n')}
`;
}
