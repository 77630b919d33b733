/**
 * Takes the pictures of the guide: every view of the page, with a run that is being watched and the recorded one of the Python cookbook.
 *
 *   npm run pictures
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGateway, serviceModels } from '@tinkex/gateway';
import { ModelInput } from '@tinkex/types';
import type { Page } from 'playwright-core';
import { attachInspector, openAiChat } from '../src/index.js';
import { launchBrowser, openPage } from './harness/browser.js';
import { startTraining } from './harness/training.js';

const IMAGES = fileURLToPath(new URL('../../../docs/guides/images', import.meta.url));
const PYTHON_RUNS = fileURLToPath(new URL('runs', import.meta.url));
const VIEWS = ['runs', 'metrics', 'now', 'timeline', 'examples', 'rollouts', 'checkpoints', 'playground', 'protocol'];
const WIDE = { width: 1280, height: 560 };
const NARROW = { width: 390, height: 800 };
/** For charts that are drawn after their data has arrived. */
const SETTLED_MS = 900;

await using program = await startTraining();
const { server, service, training, tokenizer, data } = program;
await using inspector = await attachInspector({
  ...{ log: () => undefined, name: 'proverbs', model: 'tinkex/tiny', rank: 8, totalSteps: 60, protocol: server, includeContent: true },
  ...{ folders: [PYTHON_RUNS], prices: { train: 400, prefill: 130, sample: 400 }, budgetUsd: 2, models: ['tinkex/tiny'] },
  chat: openAiChat(createGateway({ models: serviceModels(service) })),
});
await program.train(20);
await training.saveState('step-20');
inspector.addExamples(data, { tokenizer, output: await program.train(20), step: 40 });
const sampling = await training.saveWeightsAndGetSamplingClient();
await sampling.sample({ prompt: ModelInput.fromText('The quick', tokenizer), numSamples: 4, samplingParams: { maxTokens: 40 } });

await mkdir(IMAGES, { recursive: true });
const browser = await launchBrowser();
try {
  const wide = await openPage(browser, inspector.url, { viewport: WIDE, reducedMotion: 'reduce' });
  for (const view of VIEWS) await draw(wide.page, view, `inspector-${view}.png`);
  const narrow = await openPage(browser, inspector.url, { viewport: NARROW, reducedMotion: 'reduce' });
  await draw(narrow.page, 'metrics', 'inspector-narrow.png');
  const complaints = [...wide.complaints, ...narrow.complaints];
  if (complaints.length > 0) throw new Error(`The page complains: ${complaints.join('; ')}`);
} finally {
  await browser.close();
}

async function draw(page: Page, view: string, file: string): Promise<void> {
  await page.goto(`${inspector.url}#/runs`);
  const rl = page.getByRole('link', { name: 'rl', exact: true });
  await rl.waitFor();
  const recorded = new URLSearchParams((await rl.getAttribute('href'))?.split('?')[1]).get('run');
  await page.goto(`${inspector.url}#/${view}?run=${view === 'rollouts' ? recorded : 'live'}`);
  await page.getByRole('heading', { level: 1, name: new RegExp(view, 'i') }).waitFor();
  if (view === 'playground') await continueSentence(page);
  await page.waitForTimeout(SETTLED_MS);
  await page.screenshot({ path: join(IMAGES, file) });
  console.log(file);
}

async function continueSentence(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Continue a text' }).click();
  await page.getByRole('textbox', { name: 'The beginning of a text' }).fill('The quick');
  await page.keyboard.press('Enter');
  await page.locator('.answer-text .token').first().waitFor();
}
