/** Prints a gate's verdict: each problem on a line, then one line that says what was looked at. Sets the exit code. */
export function verdict(gate: string, examined: string, problems: readonly string[]): void {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(`\n${gate}: ${problems.length} problem${problems.length === 1 ? '' : 's'} (${examined})`);
    process.exitCode = 1;
  } else {
    console.log(`${gate}: in order (${examined})`);
  }
}
