import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { browserProgram, launchBrowser } from './browser.js';
import { bundles, plainEnvironment } from './program-files.js';
import { temporaryOutput } from './run-program.js';

const LIMIT_MS = 300_000;

// Without a browser there is no page to look at; the summary counts this as skipped.
describe.skipIf(browserProgram === undefined)('web-chat', () => {
  it('fine-tunes, then streams what the model learned into a page, and ends with Ctrl-C', { timeout: LIMIT_MS }, async () => {
    await using out = await temporaryOutput();
    const env = { ...plainEnvironment(), TINKEX_EXAMPLES_OUT: out.path };
    const child = spawn(process.execPath, [join(bundles, 'web-chat.js'), '--port', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      stdout += text;
      if (stdout.includes('Ctrl-C ends it.')) break;
    }
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout) ?? [];
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(LIMIT_MS);
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      for (const [question, answer] of [
        ['What is the capital of France?', 'Paris is the capital.'],
        ['What is the capital of Egypt?', 'Cairo, on the river Nile.'],
      ] as const) {
        await page.goto(url);
        await page.getByLabel('Message').fill(question);
        await page.getByRole('button', { name: 'Send' }).click();
        await page.locator('ol[aria-busy=false]').waitFor();
        expect((await page.locator('.assistant').textContent())?.trim()).toBe(answer);
      }
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      child.kill('SIGINT');
    }
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  });
});
