import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, Benchmark, Contender, RunPython } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';
import { benchPython } from '../python/bench-environment.js';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));

/** Finds PyTorch, and prints the reason if it is not there. `torch` is its version. */
export async function findTorch(torch: string | undefined): Promise<RunPython | undefined> {
  if (torch === undefined) return undefined;
  // The environment that the Rust renderers have too: torch is large.
  const found = await benchPython(`tml-renderers-torch-${torch}`, [`torch==${torch}`], 'recall.py');
  if ('run' in found) return found.run;
  console.log(`PyTorch is not part of the comparison: ${found.reason}`);
  return undefined;
}

/** The engine behind `tinkex/small` and every large model: rank 8, prose, every token trained, optimizer steps included. */
export function recallBenchmarks({ isSurvey, torch }: Bench): Benchmark[] {
  if (isSurvey) return [];
  const task = { file: '' };
  const train = (datums: number, tokens: number, baseModel = 'tinkex/small'): Contender => ({
    name: `${baseModel}, ${datums} x ${tokens.toLocaleString('en')}`,
    run: () => runProgram('recall-engine', { ...task, baseModel, datums, tokens }),
  });
  const contenders: Record<string, Contender> = {
    short: train(8, 256),
    wide: train(8, 256, 'Qwen/Qwen3-8B'),
    middle: train(1, 2_048),
    large: train(64, 256),
    long: train(1, 16_384),
  };
  if (torch !== undefined) contenders['torch'] = { name: 'the same in PyTorch, 1 x 2,048', run: () => torch({ ...task, tokens: 2_048 }) };
  return [
    {
      id: 'recall-engine',
      title: 'Training on prose: the rate must not drop with the vocabulary, the length of the text or the size of the batch',
      contenders,
      prepare: async () => {
        if (task.file === '') task.file = writeProse();
      },
      comparisons: [
        { metric: 'tokensPerCpuSecond', of: 'short', goal: { atLeast: 30_000 } },
        { metric: 'tokensPerCpuSecond', of: 'wide', against: 'short', goal: { atLeast: 0.8 } },
        { metric: 'tokensPerCpuSecond', of: 'middle', against: 'short', goal: { atLeast: 0.8 } },
        { metric: 'tokensPerCpuSecond', of: 'long', against: 'large', goal: { atLeast: 0.8 } },
        { metric: 'tokensPerCpuSecond', of: 'large', goal: { atLeast: 30_000 } },
        { metric: 'tokensPerCpuSecond', of: 'middle', against: 'torch', goal: { atLeast: 0.5 } },
        { metric: 'loss', of: 'middle', against: 'torch' },
        { metric: 'peakRssBytes', of: 'middle', against: 'torch' },
      ],
    },
    {
      id: 'recall-models',
      title: '1,000 models of Qwen3-8B in one engine, each trained for one step of 64 tokens',
      contenders: { testkit: { name: '@tinkex/testkit', run: () => runProgram('recall-models', { models: 1_000, tokens: 64 }) } },
      comparisons: [{ metric: 'residentMegabytes', of: 'testkit', goal: { atMost: 1_500 } }],
      maxRounds: 3,
    },
  ];
}

/** The pages of this repository as one text. */
function writeProse(): string {
  const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  const file = join(mkdtempSync(join(tmpdir(), 'tinkex-bench-')), 'prose.txt');
  writeFileSync(
    file,
    pages
      .sort()
      .map((page) => readFileSync(join(DOCS, page), 'utf8'))
      .join('\n'),
  );
  return file;
}
