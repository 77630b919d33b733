import { peakRssBytes } from './stopwatch.js';

/** The measurements of one run of a program, by name. */
export type Measurements = Readonly<Record<string, number>>;

/**
 * Runs a measured program: reads the task (JSON, the only argument), performs it, prints the measurements and the peak memory as the last
 * line, and exits.
 */
export async function program<Task>(run: (task: Task) => Promise<Measurements> | Measurements): Promise<void> {
  const measured = await run(JSON.parse(process.argv[2] ?? '{}') as Task);
  process.stdout.write(`${JSON.stringify({ peakRssBytes: peakRssBytes(), ...measured })}\n`, () => process.exit(0));
}
