import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface BenchOptions {
  readonly isQuick: boolean;
  /** IDs of benchmarks, or beginnings of IDs. Empty: all benchmarks. */
  readonly names: readonly string[];
  readonly rounds: number;
  readonly hasPython: boolean;
  readonly torch: string | undefined;
}

/** Reads the command line. A mistake ends the process with one message: a run overwrites kept results, so it must not start on a guess. */
export function readCommandLine(): BenchOptions {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        'no-python': { type: 'boolean', default: false },
        torch: { type: 'string' },
      },
    });
    const rounds = values.rounds ?? (values.quick ? '2' : '5');
    if (!/^[1-9]\d*$/.test(rounds)) throw new Error(`--rounds must be a whole number from 1 up, got ${rounds}`);
    return {
      isQuick: values.quick,
      names: positionals,
      rounds: Number(rounds),
      hasPython: !values['no-python'],
      torch: values.torch,
    };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** Prints what is wrong with the command line and ends the process with exit code 2. */
export function refuse(message: string): never {
  console.error(`bench: ${message}`);
  process.exit(2);
}
