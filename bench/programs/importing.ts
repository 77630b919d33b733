/** The cost of an import in a process that has just started. */
import { program } from '../measure/program.js';
import { stopwatch } from '../measure/stopwatch.js';

await program(async ({ modules }: { modules: readonly string[] }) => {
  const stop = stopwatch();
  for (const name of modules) await import(name);
  return { ...stop() };
});
