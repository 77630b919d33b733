import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';
import { installedBytes } from './installed-bytes.js';

/** The price of having the SDK: time to import, bytes on disk. */
export function importBenchmarks({ python }: Bench): Benchmark[] {
  const importing = (name: string, modules: readonly string[]): Contender => ({
    name,
    run: () => runProgram('importing', { modules }),
  });
  const contenders: Record<string, Contender> = {
    tinkex: importing('@tinkex/clients', ['@tinkex/clients']),
    openai: importing("openai's client", ['openai']),
  };
  if (python !== undefined) contenders['python'] = { name: 'Python SDK', run: () => python({ work: 'importing' }) };
  const size = (name: string): Contender => ({ name, run: async () => ({ megabytes: installedBytes(name) / 1e6 }) });
  return [
    {
      id: 'import',
      title: 'Import',
      contenders,
      comparisons: [
        { metric: 'cpuMs', of: 'tinkex', against: 'openai', goal: { atMost: 1.5 } },
        { metric: 'wallMs', of: 'tinkex', against: 'openai', goal: { atMost: 1.5 } },
        { metric: 'cpuMs', of: 'tinkex', against: 'python' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'python' },
      ],
    },
    {
      id: 'install-size',
      title: 'Installed size, dependencies included',
      contenders: { tinkex: size('@tinkex/clients'), openai: size('openai') },
      maxRounds: 1,
      comparisons: [{ metric: 'megabytes', of: 'tinkex', against: 'openai' }],
    },
  ];
}
