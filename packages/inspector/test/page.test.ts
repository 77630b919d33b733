import { appendFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createGateway, serviceModels } from '@tinkex/gateway';
import { systemClock } from '@tinkex/http';
import { startServer } from '@tinkex/testkit';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attachInspector, createInspector, inspectFolder, openAiChat } from '../src/index.js';
import { browserProgram, launchBrowser, openPage } from './harness/browser.js';
import { temporaryFolder } from './harness/temporary-folder.js';
import { startTraining } from './harness/training.js';

const quiet = { log: () => undefined };
const RUNS = new URL('runs/', import.meta.url).pathname;
const VIEWS = ['runs', 'metrics', 'now', 'timeline', 'examples', 'rollouts', 'checkpoints', 'playground', 'protocol', 'export'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The names of the rules that the page breaks; all rules, or some. */
async function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = rules === undefined ? {} : { runOnly: rules };
  // The policy of the page lets no script in but its own, so this one comes from outside of it.
  return page.evaluate(`(() => {
    if (window.axe === undefined) { const module = undefined; ${AXE} }
    return window.axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')));
  })()`);
}

function writeMetrics(folder: string, steps: number): void {
  mkdirSync(folder, { recursive: true });
  const lines = Array.from(
    { length: steps },
    (_, step) => `{"step": ${step}, "train_mean_nll": ${5 / (1 + step / 50)}, "learning_rate": 0.01}\n`,
  );
  writeFileSync(join(folder, 'metrics.jsonl'), lines.join(''));
}

// Without a browser there is no page to look at; the summary counts these as skipped.
describe.skipIf(browserProgram === undefined)('the page', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser.close();
  });

  it('H.1: shows a live run, its loss, its timeline and its tokens, through a reload', async () => {
    using folder = temporaryFolder();
    await using program = await startTraining();
    await using inspector = await attachInspector({
      ...quiet,
      ...{ name: 'my run', model: 'tinkex/tiny', totalSteps: 12, includeContent: true, recordTo: folder.path, protocol: program.server },
      chat: openAiChat(createGateway({ models: serviceModels(program.service) })),
    });
    const { page, complaints } = await openPage(browser, inspector.url);
    await page.getByRole('link', { name: 'my run' }).waitFor();
    await program.train(4);
    await page.getByText('4 / 12').waitFor();

    await page.getByRole('link', { name: 'my run' }).click();
    const chart = page.getByRole('img', { name: /^loss per token/ });
    await page.getByRole('img', { name: /^loss per token.* at step 3$/ }).waitFor();
    const output = await program.train(4);
    await page.getByRole('img', { name: /^loss per token.* at step 7$/ }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: /^loss per token.* at step 7$/ }).waitFor();
    expect(await chart.locator('canvas').count()).toBe(1);

    inspector.addExamples(program.data, { tokenizer: program.tokenizer, output, step: 7 });
    await page.getByRole('link', { name: 'Examples' }).click();
    await page.locator('.token', { hasText: 'q' }).first().waitFor();
    expect(await page.locator('.token', { hasText: 'q' }).first().getAttribute('title')).toMatch(/weight 1\nlog-probability -/);

    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('img', { name: /operations in .*gaps/ }).waitFor();
    await page.getByRole('cell', { name: 'ForwardBackward' }).first().waitFor();
    await page.getByRole('link', { name: 'Protocol' }).click();
    await page.getByRole('cell', { name: 'OptimStep', exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Now' }).click();
    await page.getByText('of 12').waitFor();

    await program.training.saveWeightsForSampler('final');
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    await page.getByRole('button', { name: 'Chat' }).click();
    await page.getByRole('button', { name: 'Continue a text' }).click();
    await page.getByRole('textbox', { name: 'The beginning of a text' }).fill('The quick');
    await page.keyboard.press('Enter');
    await page.locator('.answer-text .token').first().waitFor();
    expect(await page.locator('.answer-text .token').first().getAttribute('title')).toMatch(/^probability [\d.]+ %\n/);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('lives on the port of a Tinker server too, beside its API', async () => {
    using folder = temporaryFolder();
    const inspector = createInspector({ folders: [folder.path] });
    await using server = await startServer({ otherRequests: (request) => inspector.handle(request) });
    const { page, complaints } = await openPage(browser, server.url + inspector.path);
    const run = join(folder.path, 'first');
    writeMetrics(run, 5);
    await page.getByRole('link', { name: 'first' }).click();
    await page.getByRole('img', { name: /^train_mean_nll.* at step 4$/ }).waitFor();
    appendFileSync(join(run, 'metrics.jsonl'), '{"step": 5, "train_mean_nll": 1}\n');
    await page.getByRole('img', { name: /^train_mean_nll.* at step 5$/ }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: /^train_mean_nll.* at step 5$/ }).waitFor();
    expect(complaints).toEqual([]);
    server.verify();
    await page.close();
    inspector.close();
  });

  it('H.1: shows what a run did that crashed, from what it left behind', async () => {
    using folder = temporaryFolder();
    const past = Date.now() - 3_600_000;
    await using program = await startTraining();
    // What a crash leaves: records of an hour ago, and no end.
    await using crashed = await attachInspector({
      ...quiet,
      name: 'crashed',
      recordTo: folder.path,
      clock: { ...systemClock, wallMs: () => past },
    });
    await program.train(2);
    await using inspector = await inspectFolder(folder.path, quiet);
    const { page } = await openPage(browser, inspector.url);
    await page.getByText('stopped', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'crashed' }).click();
    await page.getByRole('img', { name: /^loss per token.* at step 1$/ }).waitFor();
    await page.close();
    expect(crashed.folder).toBe(folder.path);
  });

  it('opens folders of the Python cookbook: curves, checkpoints, rollouts, the parts of a step', async () => {
    await using inspector = await inspectFolder(RUNS, { ...quiet, includeContent: true });
    const { page, complaints } = await openPage(browser, inspector.url);
    await page.getByRole('link', { name: 'sft' }).click();
    await page.getByRole('img', { name: /^train_mean_nll\. sft: 5\.028 at step 0 to .* at step 19$/ }).waitFor();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('cell', { name: 'finish_batch' }).first().waitFor();
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    await page.getByText('tinker://sess-0001:train:0/weights/final').waitFor();
    await page.getByRole('combobox', { name: 'Run' }).selectOption({ label: 'rl · tinkex/tiny' });
    await page.getByRole('link', { name: 'Rollouts' }).click();
    await page.getByRole('heading', { name: 'Group 4' }).waitFor();
    await page.getByText('Say a').first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('H.2: compares two runs, zooms, smooths and switches to logarithms', async () => {
    await using inspector = await inspectFolder(RUNS, quiet);
    const { page } = await openPage(browser, inspector.url);
    await page.getByRole('checkbox', { name: 'Compare sft' }).check();
    await page.getByRole('checkbox', { name: 'Compare rl' }).check();
    await page.getByRole('link', { name: 'Compare 2 runs' }).click();
    await page.getByRole('searchbox').fill('grad_norm');
    const chart = page.getByRole('img', { name: /^grad_norm:mean\. (sft|rl): .*; (sft|rl): / });
    await chart.waitFor();
    await page.getByRole('slider', { name: 'Smoothing' }).fill('0.6');
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    const box = await chart.boundingBox();
    if (box === null) throw new Error('The chart is not on the screen.');
    await page.mouse.move(box.x + 120, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 260, box.y + 80, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Show all steps' }).click();
    await page.getByRole('button', { name: 'Remove' }).first().click();
    await page.getByRole('img', { name: /^grad_norm:mean\. [^;]*$/ }).waitFor();
    await page.close();
  });

  it('H.2: draws 100,000 points, of which it fetches what a screen can show', async () => {
    using folder = temporaryFolder();
    writeMetrics(folder.path, 100_000);
    await using inspector = await inspectFolder(folder.path, quiet);
    const { page } = await openPage(browser, inspector.url);
    const answered = page.waitForResponse(/series\?metric=train_mean_nll/);
    await page.locator('.run-name').click();
    expect((await (await answered).body()).length).toBeLessThanOrEqual(3_000 * 16);
    await page.getByRole('img', { name: /^train_mean_nll\..* at step 99999$/ }).waitFor();
    await page.close();
  });

  it('fills itself when a run appears in an empty folder, grows, and has an unreadable line', async () => {
    using folder = temporaryFolder();
    await using inspector = await inspectFolder(folder.path, quiet);
    const { page } = await openPage(browser, inspector.url);
    await page.getByText('No runs yet').waitFor();
    writeMetrics(join(folder.path, 'first'), 3);
    await page.getByRole('link', { name: 'first' }).waitFor();
    appendFileSync(join(folder.path, 'first', 'metrics.jsonl'), '{"step": 3, "train_mean\n{"step": 4, "train_mean_nll": 1}\n');
    await page.getByText('1 unreadable line').click();
    await page.getByText('metrics.jsonl:4').waitFor();
    utimesSync(join(folder.path, 'first', 'metrics.jsonl'), new Date(0), new Date(0));
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    await page.close();
  });

  it('goes everywhere by keyboard', async () => {
    await using inspector = await inspectFolder(RUNS, quiet);
    const { page } = await openPage(browser, inspector.url);
    await page.locator('.run-name').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Skip');
    for (const [index, view] of VIEWS.entries()) {
      await page.keyboard.press(String((index + 1) % 10));
      await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor();
    }
    await page.keyboard.press('j');
    await page.waitForFunction("location.hash.includes('run=')");
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('nll');
    expect(await page.getByRole('searchbox').inputValue()).toBe('nll');
    await page.close();
  });

  it.each(['light', 'dark'] as const)('is accessible in every view, in %s colors', async (colorScheme) => {
    await using inspector = await inspectFolder(RUNS, { ...quiet, includeContent: true });
    const { page } = await openPage(browser, inspector.url, { colorScheme, reducedMotion: 'reduce' });
    await page.locator('.run-name').first().waitFor();
    const rl = await page.getByRole('link', { name: 'rl' }).getAttribute('href');
    const id = new URLSearchParams(rl?.split('?')[1]).get('run');
    for (const view of VIEWS) {
      await page.goto(`${inspector.url}#/${view}?run=${id}`);
      await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor();
      // Only colors differ between the schemes.
      expect([view, await accessibilityProblems(page, colorScheme === 'light' ? undefined : ['color-contrast'])]).toEqual([view, []]);
    }
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(colorScheme);
    await page.close();
  });

  it('exports itself as one file that needs no server', async () => {
    using folder = temporaryFolder();
    await using inspector = await inspectFolder(RUNS, quiet);
    const report = await (await fetch(`${inspector.url}report.html`)).text();
    await inspector.close();
    const file = join(folder.path, 'report.html');
    writeFileSync(file, report);
    const { page, complaints } = await openPage(browser, pathToFileURL(file).href);
    await page.getByRole('link', { name: 'sft' }).click();
    await page.getByRole('img', { name: /^train_mean_nll\. sft: 5\.028 at step 0/ }).waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('opens in a browser that names a language that does not exist', async () => {
    await using inspector = await inspectFolder(RUNS, quiet);
    const { page, complaints } = await openPage(browser, inspector.url, { locale: 'en-US@posix' });
    await page.getByRole('link', { name: 'sft' }).click();
    await page.getByRole('img', { name: /^train_mean_nll/ }).waitFor();
    expect([await page.evaluate('navigator.language'), complaints]).toEqual(['en-US', []]);
    await page.close();
  });

  it('reconnects by itself, and says so in the meantime', async () => {
    using folder = temporaryFolder();
    writeMetrics(folder.path, 3);
    const first = await inspectFolder(folder.path, { ...quiet, token: 'the-same-token' });
    const { page } = await openPage(browser, first.url);
    await page.getByText('Live', { exact: true }).waitFor();
    await first.close();
    await page.getByText('Reconnecting').waitFor();
    await using second = await inspectFolder(folder.path, { ...quiet, token: 'the-same-token', port: first.port });
    await page.getByText('Live', { exact: true }).waitFor();
    expect(second.url).toBe(first.url);
    await page.close();
  });
});
