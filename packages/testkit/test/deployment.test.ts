import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { DEFAULT_API_KEY } from '../src/index.js';

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8');

/** The options of `serve` that a text uses. */
function optionsIn(text: string): string[] {
  const [, after = ''] = /serve(?:"?,)? ((?:.|\n)*)/.exec(text) ?? [];
  return [...after.matchAll(/(?<=^|[\s"])--[a-z-]+/g)].map(([option]) => option);
}

describe.each([
  ['the container file', '../Containerfile', /^ENTRYPOINT.*$/m],
  ['the GitHub Action', '../../../.github/actions/serve/action.yml', /^.*nohup npx.*$/m],
])('%s', (_name, file, line) => {
  it('starts the server with options that exist', async () => {
    const [start = ''] = line.exec(await read(file)) ?? [];
    const options = optionsIn(start);
    expect(options).toContain('--port');
    const command = await read('../src/cli/main.ts');
    for (const option of options) expect(command).toMatch(new RegExp(`'(?:-\\w, )?${option}[ ']`));
  });
});

it('the container runs without privileges, and is checked where it listens', async () => {
  const text = await read('../Containerfile');
  const instructions = text
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(instructions.map((line) => line.split(' ', 1)[0])).toEqual([
    'FROM',
    'ARG',
    'ARG',
    'RUN',
    'USER',
    'EXPOSE',
    'HEALTHCHECK',
    'ENTRYPOINT',
  ]);
  expect(instructions[4]).toBe('USER node');
  expect(new Set([...text.matchAll(/(?:EXPOSE |127\.0\.0\.1:|"--port", ")(\d+)/g)].map(([, port]) => port))).toEqual(new Set(['8000']));
});

it('the action gives clients the key that the server accepts', async () => {
  expect(await read('../../../.github/actions/serve/action.yml')).toContain(`TINKER_API_KEY=${DEFAULT_API_KEY}`);
});
