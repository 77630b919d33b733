import { join } from 'node:path';
import { readRun } from '@tinkex/telemetry/runs';
import { describe, expect, it } from 'vitest';
import { changeOf } from './printed.js';
import { ProgramInPty } from './pty.js';
import { runProgram, temporaryOutput } from './run-program.js';

const CTRL_C = '\x03';
const BARS = /^ {1,7}[\d.]* │[▁▂▃▄▅▆▇█ ]*$/;

/** The lines of the live curve: the newest step and the chart below it. Fails if anything of an earlier drawing is left. */
function onlyCurve(lines: readonly string[]): { readonly step: string; readonly chart: readonly string[] } {
  const steps = lines.filter((line) => /step +\d+\//.test(line));
  expect(steps).toHaveLength(1);
  const top = lines.indexOf(steps[0] ?? '');
  const chart = lines.filter((line) => line.includes('│'));
  expect(lines.slice(top + 1, top + 1 + chart.length)).toEqual(chart); // in one piece
  for (const line of chart) expect(line).toMatch(BARS);
  return { step: steps[0] ?? '', chart };
}

describe('in a terminal, the quickstart', () => {
  it('draws the falling loss in place, and the samples side by side', async () => {
    await using out = await temporaryOutput();
    await using program = new ProgramInPty('quickstart', { out: out.path, columns: 100, rows: 30 });
    expect(await program.ends()).toBe(0);
    const { step, chart } = onlyCurve(program.lines);
    expect(step).toMatch(/^step 30\/30 {2}loss 0\.0\d\d$/);
    expect(chart).toHaveLength(8);
    // High on the left, flat on the right: the top line has bars only at the beginning, the bottom line has one for each step.
    expect(chart[0]).toMatch(/^ +4\.\d\d │█+[▁▂▃▄▅▆▇]?$/);
    expect(chart[0]!.length).toBeLessThan(20);
    expect(chart[7]).toMatch(/^ +0 │█{3,}.*▁{10,}$/);
    expect(chart[7]!.split('│')[1]).toHaveLength(30);
    expect(program.lines.join('\n')).toMatch(/^ {2}before +after\n {2}"The quic[^"]*" +"The quick brown fox jumps over the lazy dog\."$/m);
    expect(program.lines.slice(0, 3)).toEqual(['Training on tinkex/tiny, the embedded engine (no account)', '', step]);
    expect(program.lines.slice(-2)).toEqual(['docs/guides/README.md explains each part.', '[exit code 0]']);
    expect(program.wrappedLines).toEqual([]);
    expect(program.hasColour(program.lines.indexOf(chart[0]!))).toBe(true);
    expect(program).toMatchObject({ isCursorShown: true, cursorColumn: 0 });
  });

  it('fits into a small window, without colors if they are not wanted', async () => {
    await using out = await temporaryOutput();
    await using program = new ProgramInPty('quickstart', { out: out.path, columns: 60, rows: 10, env: { NO_COLOR: '1' } });
    expect(await program.ends()).toBe(0);
    const { step, chart } = onlyCurve(program.lines);
    expect(step).toMatch(/^step 30\/30 {2}loss 0\.0\d\d$/);
    expect(chart).toHaveLength(6);
    expect(program.lines).toContain('  after:  "The quick brown fox jumps over the lazy dog."');
    expect(program.wrappedLines).toEqual([]);
    expect(program.lines.some((_, index) => program.hasColour(index))).toBe(false);
  });

  it('stops at Ctrl-C, says what is lost, and leaves a whole picture', async () => {
    await using out = await temporaryOutput();
    await using program = new ProgramInPty('quickstart', { out: out.path, columns: 100, rows: 30 });
    await program.shows(/step +[3-9]\//);
    program.type(CTRL_C);
    expect(await program.ends()).toBe(130);
    const { chart } = onlyCurve(program.lines);
    const below = program.lines.slice(program.lines.lastIndexOf(chart.at(-1)!) + 1);
    expect(below).toEqual(['^C', 'Interrupted. What was not saved to a checkpoint is lost.', '[exit code 130]']);
    expect(program).toMatchObject({ isCursorShown: true, cursorColumn: 0 });
  });
});

describe('in a terminal, chat-sl', () => {
  it('saves at Ctrl-C and continues as if it had never stopped', async () => {
    await using out = await temporaryOutput();
    await using elsewhere = await temporaryOutput();
    const size = { columns: 100, rows: 30 };
    await using interrupted = new ProgramInPty('chat-sl', { out: out.path, ...size });
    await interrupted.shows(/step +[3-9]\//);
    interrupted.type(CTRL_C);
    expect(await interrupted.ends()).toBe(130);
    const { chart } = onlyCurve(interrupted.lines);
    const below = interrupted.lines.slice(interrupted.lines.lastIndexOf(chart.at(-1)!) + 1);
    const step = Number(/Interrupted after step (\d+)\./.exec(below.join('\n'))?.[1]);
    expect(below).toEqual([
      '^C',
      'Finishing the steps that are submitted, then saving. A second Ctrl-C stops immediately.',
      `Interrupted after step ${step}. Nothing is lost:`,
      'run it again to continue, or with --fresh to start over.',
      '[exit code 130]',
    ]);
    expect(step).toBeGreaterThanOrEqual(3);
    expect(step).toBeLessThan(32);

    await using resumed = new ProgramInPty('chat-sl', { out: out.path, ...size });
    expect(await resumed.ends()).toBe(0);
    const screen = resumed.lines.join('\n');
    expect(screen).toContain(`Continuing after step ${step}, from `);
    const curve = onlyCurve(resumed.lines);
    expect(curve.step).toMatch(/^step 32\/32 /);
    expect(curve.chart.at(-1)!.split('│')[1]).toHaveLength(32); // the whole run, not only its second part
    expect(resumed.wrappedLines).toEqual([]);

    // Without a terminal and an interruption it ends at the very same numbers.
    const { code, stdout, stderr } = await runProgram('chat-sl', { out: elsewhere.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\x1b');
    const { from, to } = changeOf(stdout, 'Held-out loss');
    expect(to).toBeLessThan(from / 10);
    expect(changeOf(screen, 'Held-out loss')).toEqual({ from, to });
    const lossesOf = async (folder: string) =>
      (await readRun(join(folder, 'runs/chat-sl'))).metrics.map((record) => record['train_mean_nll']);
    expect(await lossesOf(out.path)).toEqual(await lossesOf(elsewhere.path));
  });
});

describe('in a terminal, concurrent-sampling', () => {
  it('keeps one line of progress up to date, no longer than the terminal', async () => {
    await using out = await temporaryOutput();
    await using program = new ProgramInPty('concurrent-sampling', { out: out.path, columns: 60, rows: 30, args: ['--prompts', '200'] });
    expect(await program.ends()).toBe(0);
    const progress = program.lines.filter((line) => line.startsWith('step '));
    expect(progress).toHaveLength(1);
    expect(progress[0]).toMatch(/^step 200\/200 /);
    expect(program.lines.join('\n')).toMatch(/^200 of 200 answers in /m);
    expect(program.wrappedLines).toEqual([]);
  });
});
