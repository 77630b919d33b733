import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { plainResponse } from './responses.js';

/** The files of the page. Nothing else is ever read for a request. */
const FILES: Readonly<Record<string, string>> = {
  '/': 'index.html',
  '/assets/page.js': 'assets/page.js',
  '/assets/page.css': 'assets/page.css',
  '/assets/icon.svg': 'assets/icon.svg',
};

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Beside the published file; or, when this runs from the sources, where the build puts the page. */
const FOLDERS: readonly string[] = ['./page/', '../../dist/page/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** Answers with a file of the page; undefined if the path names none. */
export async function servePageFile(path: string): Promise<Response | undefined> {
  const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (file === undefined) return undefined;
  const content = await readPageFile(file);
  if (content === undefined) {
    return plainResponse(
      503,
      'The page is not built. Run "npm run build" in the repository, or "node ../../scripts/build/bundle-page.mjs" in packages/inspector.',
    );
  }
  return new Response(content, { headers: { 'content-type': TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream' } });
}

/** A file of the built page as text; undefined if the page is not built. */
export async function readPageFile(file: string): Promise<string | undefined> {
  const folder = FOLDERS.find((candidate) => existsSync(`${candidate}index.html`));
  if (folder === undefined) return undefined;
  try {
    return await readFile(folder + file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
