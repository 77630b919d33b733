import { describe, expect, it } from 'vitest';
import { checksPassed, type RuntimeOutput, reportProblems } from './report.js';

const node: RuntimeOutput = { name: 'Node', agent: /^unnamed$/, output: 'runtime: unnamed\n3 checks passed\n' };
const bun: RuntimeOutput = { name: 'Bun', agent: /^Bun\//, output: 'runtime: Bun/1.4.4\n3 checks passed\n' };

describe('reports of the runtimes', () => {
  it('are in order when all checks passed everywhere', () => {
    expect(reportProblems([node, bun])).toEqual([]);
    expect(checksPassed(bun.output)).toBe(3);
  });

  it('show each failed check and the missing one', () => {
    const output = 'runtime: Bun/1.4.4\nfailed: a: got 1, expected 2\n2 checks passed\n';
    expect(reportProblems([node, { ...bun, output }])).toEqual([
      'Bun: failed: a: got 1, expected 2',
      'Bun: 2 checks passed, but 3 on Node',
    ]);
  });

  it('show failures that all runtimes share', () => {
    const output = 'failed: a: wrong\n2 checks passed\n';
    expect(reportProblems([{ ...node, output: `runtime: unnamed\n${output}` }])).toEqual(['Node: failed: a: wrong']);
  });

  it.each(['', 'runtime: Bun/1.4.4\n0 checks passed\n', 'SyntaxError: no such export'])(
    'show a program that checked nothing: %j',
    (output) => {
      expect(reportProblems([node, { ...bun, output }])).toEqual([`Bun: no check passed:\n${output.trim()}`]);
      expect(reportProblems([{ ...node, output }, bun])[0]).toContain('Node: no check passed');
    },
  );

  it('show one runtime that was taken for another', () => {
    expect(reportProblems([node, { ...bun, output: node.output }])).toEqual([
      'Bun: the program ran in something that calls itself "unnamed"',
    ]);
  });
});
