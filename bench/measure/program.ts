import { peakRssBytes } from './stopwatch.js';

/** What one run of a program has measured, by name. */
export type Measurements = Readonly<Record<string, number>>;

/**
 * Runs a measured program: reads the task (JSON, the only argument), does it, prints what was measured as the last line, together with the
 * peak of its memory, and ends.
 */
export async function program<Task>(run: (task: Task) => Promise<Measurements> | Measurements): Promise<void> {
  const measured = await run(JSON.parse(process.argv[2] ?? '{}') as Task);
  process.stdout.write(`${JSON.stringify({ peakRssBytes: peakRssBytes(), ...measured })}\n`, () => process.exit(0));
}
