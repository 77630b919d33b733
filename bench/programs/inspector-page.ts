/** How long the page needs until a run with many steps is drawn and can be used, in a browser that opens it for the first time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectFolder } from '@tinkex/inspector';
import { chromium } from 'playwright-core';
import { program } from '../measure/program.js';

interface Task {
  readonly steps: number;
  readonly executablePath: string;
}

await program(async ({ steps, executablePath }: Task) => {
  const folder = mkdtempSync(join(tmpdir(), 'tinkex-bench-'));
  const lines = Array.from(
    { length: steps },
    (_, step) => `{"step": ${step}, "train_mean_nll": ${5 / (1 + step / 50)}, "learning_rate": ${1e-4 - step * 1e-10}}\n`,
  );
  writeFileSync(join(folder, 'metrics.jsonl'), lines.join(''));
  await using inspector = await inspectFolder(folder, { log: () => undefined });
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  const page = await browser.newPage();
  // The server has read the files: this is about the page.
  await page.goto(inspector.url);
  await page.locator('.run-name').waitFor();
  const address = page.url().replace(/#.*$/, '');
  const run = await page.locator('.run-name').getAttribute('href');
  await page.goto('about:blank');
  const start = performance.now();
  await page.goto(`${address}${run}`);
  await page.getByRole('img', { name: new RegExp(`^train_mean_nll\\..* at step ${steps - 1}$`) }).waitFor();
  await page.getByRole('searchbox').fill('nll');
  const interactiveMs = performance.now() - start;
  await browser.close();
  rmSync(folder, { recursive: true });
  return { interactiveMs };
});
