import { existsSync, readFileSync } from 'node:fs';

/**
 * @typedef {object} Report
 * @property {string} name
 * @property {number} passed
 * @property {number} failed tests, and problems that vitest's counters hide
 * @property {number} skipped
 * @property {string[]} problems
 * @property {string[]} broken tests that failed, with the first line of why
 * @property {string[]} retried tests that passed, but not the first time
 */

/**
 * Reads vitest's JSON results of one suite. Missing or unreadable results, a test file that did not load, an empty suite and an exit code that nothing
 * else explains (an unhandled rejection) count as failures: vitest's counters contain none of them.
 * @param {string} name
 * @param {string} file
 * @param {{ mayBeEmpty?: boolean, exitCode?: number | undefined }} [options]
 * @returns {Report}
 */
export function readReport(name, file, { mayBeEmpty = false, exitCode = 0 } = {}) {
  const results = readResults(file);
  const { numPassedTests: passed = 0, numFailedTests: failed = 0, numPendingTests = 0, numTodoTests = 0, testResults = [] } = results;
  /** @type {string[]} */
  const problems = results.problem === undefined ? [] : [results.problem];
  for (const { name: suite, status, message, assertionResults } of testResults) {
    const hasFailedTest = assertionResults.some((/** @type {{ status: string }} */ test) => test.status === 'failed');
    if (status === 'failed' && !hasFailedTest) problems.push(`${suite} did not run: ${String(message).split('\n', 1)[0]}`);
  }
  if (passed + failed + problems.length === 0 && !mayBeEmpty) problems.push('ran no test at all');
  if (failed + problems.length === 0 && exitCode !== 0)
    problems.push(`ended with exit code ${exitCode} although no test failed; see above`);
  return {
    name,
    passed,
    failed: failed + problems.length,
    skipped: numPendingTests + numTodoTests,
    problems,
    ...testsWithFailures(testResults),
  };
}

/**
 * Adds the reports up. An exit code of the whole run that no report explains counts as one failure, and so does a run without tests.
 * @param {Report[]} reports
 * @param {number} exitCode of the run that wrote them
 */
export function summarize(reports, exitCode) {
  const width = Math.max(...reports.map(({ name }) => name.length));
  const lines = reports.flatMap(({ name, problems, broken, retried, ...counts }) => [
    `${name.padEnd(width)}  ${countsLine(counts)}`,
    ...problems.map((problem) => `  ${problem}`),
    ...broken.map((test) => `  failed: ${test}`),
    ...retried.map((test) => `  passed on the second try: ${test}`),
  ]);
  /** @param {'passed' | 'failed' | 'skipped'} field */
  const sum = (field) => reports.reduce((total, report) => total + report[field], 0);
  const counts = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
  if (counts.failed === 0 && (exitCode !== 0 || counts.passed === 0)) {
    counts.failed = 1;
    lines.push(
      exitCode === 0 ? 'no test ran' : `the test run ended with exit code ${exitCode} although no test failed; the output above says why`,
    );
  }
  return { ...counts, lines: [...lines, countsLine(counts)] };
}

/**
 * Vitest keeps the messages of a failed try on a test that passed later.
 * @param {{ assertionResults: { fullName: string, status: string, failureMessages?: string[] }[] }[]} testResults
 */
function testsWithFailures(testResults) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults).filter((test) => (test.failureMessages ?? []).length > 0);
  /** @param {string} wanted */
  const named = (wanted) =>
    tests
      .filter(({ status }) => status === wanted)
      .map(({ fullName, failureMessages = [] }) => `${fullName} (${String(failureMessages[0]).split('\n', 1)[0]})`);
  return { broken: named('failed'), retried: named('passed') };
}

/** @param {{ passed: number, failed: number, skipped: number }} counts */
function countsLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** @param {string} file */
function readResults(file) {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { problem: 'wrote no results (it crashed, or did not start)' };
  } catch (error) {
    return { problem: `wrote unreadable results: ${error instanceof Error ? error.message : error}` };
  }
}
