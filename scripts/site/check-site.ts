import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { Browser } from '../runtimes/browser.js';

/** What is checked, and with what. */
export interface SiteCheck {
  /** The built site, with a folder for the version. */
  readonly folder: string;
  readonly version: string;
  /** Where playwright and axe are installed. */
  readonly program: string;
  readonly browser: Browser;
  /** Where screenshots go. */
  readonly pictures: string;
}

/** The part of playwright that is used here; it is not a dependency of the workspace. */
interface PlaywrightPage {
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
  goto(url: string, options?: { waitUntil: 'load' | 'networkidle' }): Promise<{ status(): number } | null>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  emulateMedia(options: { colorScheme: 'light' | 'dark' }): Promise<void>;
  screenshot(options: { path: string }): Promise<unknown>;
  addScriptTag(options: { path: string }): Promise<unknown>;
  evaluate<T>(script: string): Promise<T>;
  click(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  waitForSelector(selector: string): Promise<unknown>;
}
interface PlaywrightBrowser {
  newPage(): Promise<PlaywrightPage>;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' },
  ...{ '.svg': 'image/svg+xml', '.png': 'image/png', '.txt': 'text/plain' },
};
/** Pages that are checked closely: pictures at two widths, accessibility in both color schemes. */
const SHOWN = ['', 'guides/getting-started.html', 'packages/clients.html', 'api/'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Opens every page of the site, as a reader would. */
export async function checkSite({
  folder,
  version,
  program,
  browser,
  pictures,
}: SiteCheck): Promise<{ pages: number; problems: string[] }> {
  const require = createRequire(join(program, 'package.json'));
  const { chromium } = require('playwright-core') as {
    chromium: { launch(options: object): Promise<PlaywrightBrowser> };
  };
  const server = serve(folder);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${version}/`;
  const chrome = await chromium.launch({ executablePath: browser.program, env: { ...process.env, ...browser.env }, args: FLAGS });
  const problems: string[] = [];
  try {
    const page = await chrome.newPage();
    let at = '';
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`${at}: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`${at}: ${error.message}`));
    const pages = htmlFiles(join(folder, version)).filter((file) => file !== '404.html');
    for (at of pages) {
      const response = await page.goto(`${base}${at}`, { waitUntil: 'load' });
      if (response?.status() !== 200) problems.push(`${at}: status ${response?.status()}`);
    }
    for (at of SHOWN) problems.push(...(await examine(page, `${base}${at}`, at, require.resolve('axe-core/axe.min.js'), pictures)));
    at = 'search';
    problems.push(...(await search(page, base)));
    return { pages: pages.length, problems };
  } finally {
    await chrome.close();
    server.closeAllConnections();
    server.close();
  }
}

async function examine(page: PlaywrightPage, url: string, name: string, axe: string, pictures: string): Promise<string[]> {
  const problems: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(url, { waitUntil: 'networkidle' });
      await page.screenshot({ path: join(pictures, `${name.replaceAll(/[^a-z]/g, '-') || 'home'}-${width}-${colorScheme}.png`) });
    }
    await page.addScriptTag({ path: axe });
    // Colors of the syntax highlighter are the theme's.
    const found = await page.evaluate<{ id: string; nodes: { target: string[] }[] }[]>(
      "axe.run({ exclude: ['.vp-code', '.shiki'] }, { runOnly: ['wcag2a', 'wcag2aa'] }).then(({ violations }) => violations)",
    );
    problems.push(
      ...found.map(
        ({ id, nodes }) =>
          `${name} (${colorScheme}): axe ${id} at ${nodes
            .map(({ target }) => target.join(' '))
            .slice(0, 3)
            .join('; ')}`,
      ),
    );
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  return problems;
}

async function search(page: PlaywrightPage, base: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [words, expected] of [
    ['rate limit', 'guides/rate-limits'],
    ['forwardBackward', 'api/'],
  ] as const) {
    await page.goto(base, { waitUntil: 'networkidle' });
    await page.click('.DocSearch-Button');
    await page.fill('.search-input', words);
    await page.waitForSelector('.results .result');
    const found = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.results .result')].map((one) => one.getAttribute('href'))",
    );
    if (!found.some((href) => href.includes(expected))) problems.push(`the search for "${words}" finds ${found.slice(0, 5).join(', ')}`);
  }
  return problems;
}

function htmlFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html'))
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
}

function serve(folder: string): Server {
  return createServer((request, response) => {
    const path = normalize(decodeURIComponent((request.url ?? '/').replace(/[?#].*$/, '')));
    const file = [join(folder, path), join(folder, path, 'index.html')].find((one) => existsSync(one) && statSync(one).isFile());
    if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file));
  });
}
