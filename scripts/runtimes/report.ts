/** What the program printed in one runtime. */
export interface RuntimeOutput {
  /** `Bun 1.4.4`. */
  readonly name: string;
  /** How the runtime must call itself, so that none is taken for another. */
  readonly agent: RegExp;
  readonly output: string;
}

/** How many checks passed, by the program's last word; 0 when it did not come to that. */
export function checksPassed(output: string): number {
  return Number(/^(\d+) checks passed$/m.exec(output)?.[1] ?? 0);
}

/** Everything wrong with the reports, each with its runtime: no checks, failed ones, another number than the first runtime, another runtime than meant. */
export function reportProblems(outputs: readonly RuntimeOutput[]): string[] {
  const wanted = checksPassed(outputs[0]?.output ?? '');
  return outputs.flatMap(({ name, agent, output }) => {
    const passed = checksPassed(output);
    if (passed === 0) return [`${name}: no check passed:\n${output.trim()}`];
    const failures = [...output.matchAll(/^failed: .*$/gm)].map(([line]) => `${name}: ${line}`);
    if (passed !== wanted) failures.push(`${name}: ${passed} checks passed, but ${wanted} on ${outputs[0]?.name}`);
    const itself = /^runtime: (.*)$/m.exec(output)?.[1] ?? '';
    if (!agent.test(itself)) failures.push(`${name}: the program ran in something that calls itself "${itself}"`);
    return failures;
  });
}
