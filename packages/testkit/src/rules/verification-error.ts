/** Thrown by `server.verify()`: everything the server has to complain about, one line each. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  /** One entry a complaint: a broken protocol rule, an expectation not met, a script not used. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = `${problems.length} complaint${problems.length === 1 ? '' : 's'}`;
    super(`The test server has ${count}:\n${problems.map((line) => `  - ${line}`).join('\n')}`);
    this.problems = problems;
  }
}
