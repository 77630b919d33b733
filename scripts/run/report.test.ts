import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readReport, summarize } from './report.mjs';

let file: string;
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), 'tinkex-report-')), 'results.json');
});
afterEach(() => rmSync(join(file, '..'), { recursive: true, force: true }));

const write = (content: unknown): void => writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
const healthy = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 1, numTodoTests: 1, testResults: [] };
const broken = { name: 'a.test.ts', status: 'failed', message: 'Cannot find module\nat x', assertionResults: [] as unknown[] };
const failing = { ...broken, assertionResults: [{ status: 'failed' }, { status: 'failed' }] };
const late = { fullName: 'a is slow', status: 'passed', failureMessages: ['Error: too late\nat x'] };

describe('readReport', () => {
  it.each([
    ['takes the counters of a healthy run', healthy, {}, { passed: 3, failed: 0, skipped: 2, problems: [], broken: [], retried: [] }],
    [
      'counts failed tests once',
      { numPassedTests: 1, numFailedTests: 2, testResults: [failing] },
      { exitCode: 1 },
      { passed: 1, failed: 2 },
    ],
    [
      'counts a file that did not load',
      { ...healthy, testResults: [broken] },
      {},
      { failed: 1, problems: ['a.test.ts did not run: Cannot find module'] },
    ],
    [
      'names a test that failed, or passed on the second try',
      { ...healthy, testResults: [{ ...broken, status: 'passed', assertionResults: [late, { ...late, status: 'failed' }] }] },
      {},
      { passed: 3, failed: 0, problems: [], broken: ['a is slow (Error: too late)'], retried: ['a is slow (Error: too late)'] },
    ],
    ['counts half a results file', '{"numPassedTests": 3', {}, { passed: 0, failed: 1 }],
    ['counts a run without tests', { numPassedTests: 0 }, {}, { passed: 0, failed: 1 }],
    ['accepts a filtered run without tests', { numPassedTests: 0 }, { mayBeEmpty: true }, { passed: 0, failed: 0 }],
    ['counts an exit code that no failed test explains', healthy, { exitCode: 1 }, { passed: 3, failed: 1 }],
  ])('%s', (_, content, options, expected) => {
    write(content);
    expect(readReport('http', file, options)).toMatchObject({ name: 'http', ...expected });
  });

  it('counts missing results', () => {
    expect(readReport('http', file)).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe('summarize', () => {
  const good = { name: 'types', passed: 2, failed: 0, skipped: 0, problems: [], broken: [], retried: [] };
  const bad = { name: 'http', passed: 1, failed: 1, skipped: 1, problems: ['it broke'], broken: ['b is wrong'], retried: ['a is slow'] };

  it('adds up and shows the problems', () => {
    const lines = [
      'types  2 passed, 0 failed',
      'http   1 passed, 1 failed, 1 skipped',
      '  it broke',
      '  failed: b is wrong',
      '  passed on the second try: a is slow',
      '3 passed, 1 failed, 1 skipped',
    ];
    expect(summarize([good, bad], 1)).toMatchObject({ passed: 3, failed: 1, lines });
  });

  it.each([
    ['counts an exit code that no report explains', good, 1, { passed: 2, failed: 1 }],
    ['counts a run without any test', { ...good, passed: 0 }, 0, { passed: 0, failed: 1 }],
    ['accepts a good run', good, 0, { passed: 2, failed: 0 }],
  ])('%s', (_, report, exitCode, expected) => {
    expect(summarize([report], exitCode)).toMatchObject(expected);
  });
});

it('runs on the Node version that is part of the cache key', () => {
  expect(process.env.TINKEX_NODE_VERSION ?? process.version).toBe(process.version);
});
