import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readReport, summarize } from './report.mjs';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tinkex-report-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function results(content: unknown): string {
  const file = join(directory, 'results.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

describe('readReport', () => {
  it('takes the counters of a healthy run', () => {
    const suite = { name: 'a.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] };
    const file = results({ numPassedTests: 3, numFailedTests: 0, numPendingTests: 1, numTodoTests: 1, testResults: [suite] });
    expect(readReport('http', file)).toEqual({ name: 'http', passed: 3, failed: 0, skipped: 2, problems: [] });
  });

  it('counts failed tests once', () => {
    const suite = { name: 'a.test.ts', status: 'failed', message: '', assertionResults: [{ status: 'failed' }, { status: 'failed' }] };
    expect(readReport('http', results({ numPassedTests: 1, numFailedTests: 2, testResults: [suite] }))).toMatchObject({
      passed: 1,
      failed: 2,
    });
  });

  it('counts a test file that did not load as a failure', () => {
    const suite = { name: 'a.test.ts', status: 'failed', message: 'Cannot find module\nat x', assertionResults: [] };
    const report = readReport('http', results({ numPassedTests: 5, numFailedTests: 0, testResults: [suite] }));
    expect(report).toMatchObject({ passed: 5, failed: 1, problems: ['a.test.ts did not run: Cannot find module'] });
  });

  it.each([
    ['no results file', undefined],
    ['half a results file', '{"numPassedTests": 3'],
    ['no tests', { numPassedTests: 0, numFailedTests: 0, testResults: [] }],
  ])('counts %s as a failure', (_, content) => {
    const report = readReport('http', content === undefined ? undefined : results(content));
    expect(report).toMatchObject({ passed: 0, failed: 1 });
    expect(report.problems).toHaveLength(1);
  });

  it('counts an exit code that no failed test explains, and only then', () => {
    const healthy = results({ numPassedTests: 3, numFailedTests: 0, testResults: [] });
    expect(readReport('http', healthy, { exitCode: 1 })).toMatchObject({ passed: 3, failed: 1 });
    const failing = results({ numPassedTests: 3, numFailedTests: 1, testResults: [] });
    expect(readReport('http', failing, { exitCode: 1 })).toMatchObject({ passed: 3, failed: 1, problems: [] });
  });

  it('lets a filtered run be empty', () => {
    const file = results({ numPassedTests: 0, numFailedTests: 0, testResults: [] });
    expect(readReport('http', file, { mayBeEmpty: true })).toMatchObject({ passed: 0, failed: 0 });
  });
});

describe('summarize', () => {
  const good = { name: 'types', passed: 2, failed: 0, skipped: 0, problems: [] };
  const bad = { name: 'http', passed: 1, failed: 1, skipped: 1, problems: ['it broke'] };

  it('adds up and shows the problems', () => {
    const { passed, failed, lines } = summarize([good, bad], 1);
    expect({ passed, failed }).toEqual({ passed: 3, failed: 1 });
    expect(lines).toEqual(['types  2 passed, 0 failed', 'http   1 passed, 1 failed, 1 skipped', '  it broke']);
  });

  it('counts an exit code that no report explains', () => {
    expect(summarize([good], 1)).toMatchObject({ passed: 2, failed: 1 });
    expect(summarize([good], 0)).toMatchObject({ passed: 2, failed: 0 });
  });

  it('does not call nothing a success', () => {
    expect(summarize([{ ...good, passed: 0 }], 0)).toMatchObject({ passed: 0, failed: 1 });
  });
});

it('runs on the Node version that is part of the cache key', () => {
  expect(process.env.TINKEX_NODE_VERSION ?? process.version).toBe(process.version);
});
