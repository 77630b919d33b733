import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ProgramInPty } from '../pty.js';
import { temporaryOutput } from '../run-program.js';
import { type Frame, terminalSvg, textOfLastFrame, thinFrames } from './terminal-svg.js';

/** The picture of the README. `npm run record` writes it again when the output of the quickstart has changed. */
const PICTURE = fileURLToPath(new URL('../../../../docs/guides/images/quickstart.svg', import.meta.url));
const SCREEN = { columns: 84, rows: 30 };
const FRAMES = 40;
/** Before the first output: the time in which a reader sees the command. */
const TYPED_MS = 1_000;

it('the recording in the README ends with what the quickstart prints today', async () => {
  const frames = await recordQuickstart();
  const picture = terminalSvg(thinFrames(frames, FRAMES), { title: 'npm start', columns: SCREEN.columns });
  if (process.env.TINKEX_RECORD === '1') await writeFile(PICTURE, picture);
  expect(textOfLastFrame(picture)).toContain('The quick brown fox jumps over the lazy dog.');
  expect(textOfLastFrame(await readFile(PICTURE, 'utf8'))).toBe(textOfLastFrame(picture));
});

async function recordQuickstart(): Promise<readonly Frame[]> {
  await using out = await temporaryOutput();
  await using program = new ProgramInPty('quickstart', { out: out.path, ...SCREEN });
  const command = [{ text: '$ npm start', isBold: true }];
  const frames: Frame[] = [{ atMs: 0, lines: [command] }];
  const began = performance.now();
  const takeFrame = (): void => {
    const end = program.spans.findIndex((spans) => spans[0]?.text.startsWith('[exit code'));
    const lines = [command, [], ...program.spans.slice(0, end < 0 ? undefined : end)].slice(-SCREEN.rows);
    // Where the example leaves the chart differs from machine to machine.
    frames.push({
      atMs: Math.round(performance.now() - began + TYPED_MS),
      lines: lines.filter(([first]) => !first?.text.startsWith('Loss curve')),
    });
  };
  const watch = program.onShown(takeFrame);
  expect(await program.ends()).toBe(0);
  watch.dispose();
  takeFrame();
  return frames;
}
