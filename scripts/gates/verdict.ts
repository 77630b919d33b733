/** Prints a gate's verdict: each problem on a line, then one line that says what was checked. Sets the exit code. */
export function verdict(gate: string, examined: string, problems: readonly string[]): void {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(`\n${gate}: ${problems.length} problem${problems.length === 1 ? '' : 's'} (${examined})`);
    process.exitCode = 1;
  } else {
    console.log(`${gate}: in order (${examined})`);
  }
}

/**
 * Reports what could not run here, and why: the line that `.ci/run` counts as skipped. The name of the gate means all of it; any other name, a part. A
 * skipped gate does not fail, so use it only for what the machine lacks (a browser, Python, the network).
 */
export function skip(what: string, why: string): void {
  console.log(`skipped: ${what}: ${why.replaceAll('\n', ' ')}`);
}
