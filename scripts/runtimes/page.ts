import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import type { Browser } from './browser.js';
import { importMap } from './import-map.js';

const TIMEOUT_MS = 240_000;

/**
 * Opens a page in the browser that imports the project's program by an import map, without a bundler, and gives the report that the page sends back. The page
 * is as strict as pages get: code only from its own origin, nothing inline, no `eval`. Every other host is out of reach.
 */
export async function runInBrowser(browser: Browser, project: string): Promise<string> {
  let arrived: (report: string) => void = () => undefined;
  const report = new Promise<string>((resolve) => {
    arrived = resolve;
  });
  const server = serve(project, (text) => arrived(text));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const profile = mkdtempSync(join(tmpdir(), 'tinkex-browser-'));
  const child = open(browser, profile, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const closed = once(child, 'close');
  const timer = setTimeout(() => arrived(`the page sent no report within ${TIMEOUT_MS / 1000} s\n${log}`), TIMEOUT_MS);
  child.once('exit', () => arrived(`the browser ended without a report\n${log}`));
  try {
    return await report;
  } finally {
    clearTimeout(timer);
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    await closed;
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function open({ program, env }: Browser, profile: string, url: string): ChildProcess {
  const args = [
    ...[
      '--headless',
      '--disable-gpu',
      '--no-first-run',
      '--disable-extensions',
      '--disable-background-networking',
      '--disable-dev-shm-usage',
    ],
    // It opens our page and nothing else, also as root in a container, where its sandbox cannot start.
    ...['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', `--user-data-dir=${profile}`, url],
  ];
  // Its own process group: its many helpers end with it.
  return spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
}

function serve(project: string, onReport: (report: string) => void): Server {
  const nonce = randomUUID();
  const own: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html', page(JSON.stringify(importMap(project)), nonce)],
    '/start.js': ['text/javascript', START],
  };
  return createServer((request, response) => {
    if (request.method === 'POST') {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        response.end();
        onReport(Buffer.concat(parts).toString());
      });
      return;
    }
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const [type, text] = own[path] ?? ['text/javascript', script(project, path)];
    response.writeHead(text === undefined ? 404 : 200, {
      'content-type': type,
      'content-security-policy': `default-src 'none'; script-src 'self' 'nonce-${nonce}'; connect-src 'self'`,
    });
    response.end(text);
  });
}

function page(map: string, nonce: string): string {
  return `<!doctype html><title>tinkex</title>
<script type="importmap" nonce="${nonce}">${map}</script>
<script type="module" src="/start.js"></script>`;
}

const START = `const send = (report) => fetch('/report', { method: 'POST', body: report });
import('/program.js').then(async ({ report }) => send(await report)).catch((error) => send('the program did not load: ' + error));`;

function script(project: string, path: string): string | undefined {
  if (!/[.]m?js$/.test(path) || normalize(path) !== path) return undefined;
  try {
    return readFileSync(join(project, path), 'utf8');
  } catch {
    // There is no such file.
    return undefined;
  }
}
