import { parseArgs } from 'node:util';

/** What a run of the benchmarks was asked for. */
export interface BenchOptions {
  readonly isQuick: boolean;
  /** Ids of works, or beginnings of ids. Undefined: all works. */
  readonly only: readonly string[] | undefined;
  readonly rounds: number;
  readonly hasPython: boolean;
  readonly torch: string | undefined;
}

/** Reads the command line. What makes no sense ends the process with one message: a run writes over kept results, so it must not start on a guess. */
export function readCommandLine(): BenchOptions {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        rounds: { type: 'string' },
        'no-python': { type: 'boolean', default: false },
        torch: { type: 'string' },
      },
    });
    const rounds = values.rounds ?? (values.quick ? '2' : '5');
    if (!/^[1-9]\d*$/.test(rounds)) throw new Error(`--rounds must be a whole number from 1 up, got ${rounds}`);
    return {
      isQuick: values.quick,
      only: values.only?.split(','),
      rounds: Number(rounds),
      hasPython: !values['no-python'],
      torch: values.torch,
    };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** Says what is wrong with the command line, and ends the process with 2. */
export function refuse(message: string): never {
  console.error(`bench: ${message}`);
  process.exit(2);
}
