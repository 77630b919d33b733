// The page of the inspector: packages/inspector/src/page into dist/page, which the inspector serves. `npm run build` calls it, `npm start -- --inspect` and the
// tests of the inspector (vitest calls `setup`) too, because the sources of a page cannot be served as they are. The tests of the command line put it beside
// their bundle.
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const inspector = fileURLToPath(new URL('../../packages/inspector/', import.meta.url));

// Charts write numbers in the language of the browser, which their library asks for while it is loaded; and a browser may name one that does not exist: Chromium
// without a locale says `en-US@posix`.
const USABLE_LANGUAGE = `try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}`;

export async function setup() {
  await bundlePage(`${inspector}dist/page`);
}

/** @param {string} outDir */
export async function bundlePage(outDir) {
  // Vite belongs to the package whose page it bundles.
  const { createRequire } = await import('node:module');
  const { build } = await import(pathToFileURL(createRequire(`${inspector}package.json`).resolve('vite')).href);
  await build({
    configFile: false,
    root: `${inspector}src/page`,
    base: './',
    logLevel: 'warn',
    publicDir: false,
    resolve: { conditions: ['module', 'browser', 'import', 'default'] },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: false,
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      // The server knows these four files by name, and serves no other.
      rolldownOptions: {
        output: {
          banner: USABLE_LANGUAGE,
          entryFileNames: 'assets/page.js',
          codeSplitting: false,
          assetFileNames: ({ names: [name = ''] }) => (name.endsWith('.css') ? 'assets/page.css' : 'assets/[name][extname]'),
        },
      },
    },
  });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await setup();
