import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Report
 * @property {string} name
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string[]} problems what the counters alone would hide
 */

/**
 * Reads vitest's JSON results of one suite. A missing or unreadable file, a test file that did not load, an empty suite and an exit code that nothing
 * else explains (an unhandled rejection) are failures: none of them is a failed test to vitest's counters.
 * @param {string} name
 * @param {string | undefined} file
 * @param {{ mayBeEmpty?: boolean, exitCode?: number | undefined }} [options]
 * @returns {Report}
 */
export function readReport(name, file, { mayBeEmpty = false, exitCode = 0 } = {}) {
  if (file === undefined) return broken(name, 'wrote no results (it crashed, or did not start)');
  let results;
  try {
    results = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return broken(name, `wrote unreadable results: ${error instanceof Error ? error.message : error}`);
  }
  const problems = [];
  for (const suite of results.testResults ?? []) {
    const hasFailedTest = suite.assertionResults.some((/** @type {{ status: string }} */ test) => test.status === 'failed');
    if (suite.status === 'failed' && !hasFailedTest) problems.push(`${suite.name} did not run: ${firstLine(suite.message)}`);
  }
  const passed = results.numPassedTests ?? 0;
  const failed = results.numFailedTests ?? 0;
  if (passed + failed === 0 && problems.length === 0 && !mayBeEmpty) problems.push('ran no test at all');
  if (failed === 0 && problems.length === 0 && exitCode !== 0)
    problems.push(`ended with exit code ${exitCode} although no test failed; see above`);
  const skipped = (results.numPendingTests ?? 0) + (results.numTodoTests ?? 0);
  return { name, passed, failed: failed + problems.length, skipped, problems };
}

/**
 * Adds the reports up. An exit code of the whole run that no report explains counts as one failure.
 * @param {Report[]} reports
 * @param {number} exitCode of the run that wrote them
 */
export function summarize(reports, exitCode) {
  const width = Math.max(...reports.map(({ name }) => name.length));
  const lines = reports.flatMap(({ name, passed, failed, skipped, problems }) => [
    `${name.padEnd(width)}  ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    ...problems.map((problem) => `  ${problem}`),
  ]);
  const passed = reports.reduce((sum, report) => sum + report.passed, 0);
  let failed = reports.reduce((sum, report) => sum + report.failed, 0);
  if (exitCode !== 0 && failed === 0) {
    failed = 1;
    lines.push(`the test run ended with exit code ${exitCode} although no test failed; the output above says why`);
  }
  if (passed === 0 && failed === 0) {
    failed = 1;
    lines.push('no test ran');
  }
  const skipped = reports.reduce((sum, report) => sum + report.skipped, 0);
  return { lines, passed, failed, skipped };
}

/** @param {string} name @param {string} problem @returns {Report} */
function broken(name, problem) {
  return { name, passed: 0, failed: 1, skipped: 0, problems: [problem] };
}

/** @param {unknown} message */
function firstLine(message) {
  return String(message ?? 'no message').split('\n', 1)[0];
}
