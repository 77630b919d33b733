import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResponse, systemClock, type Transport, type TransportRequest } from '@tinkex/http';
import { ConfigurationError, ConnectionError } from '@tinkex/types';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readEnvironment } from '../environment.js';
import { ClientLifetime } from '../runtime/call-scope.js';
import { resolveOptions } from '../service/resolve-options.js';
import { FileCache } from './file-cache.js';
import { TokenizerLibrary, type TokenizerOptions } from './tokenizer-library.js';

const tokenizerJson = JSON.stringify({
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: { type: 'WordLevel', vocab: { '[UNK]': 0, hello: 1, world: 2 }, unk_token: '[UNK]' },
});

type Answer = { readonly status: number; readonly body?: string; readonly location?: string };

function hub(answer: (url: URL) => Answer): Transport & { readonly requests: TransportRequest[] } {
  const requests: TransportRequest[] = [];
  return {
    requests,
    send(request) {
      requests.push(request);
      const { status, body = '', location } = answer(new URL(request.url));
      const headers = location === undefined ? {} : { location };
      return Promise.resolve(createResponse({ status, headers, body: new TextEncoder().encode(body) }));
    },
    close: () => Promise.resolve(),
  };
}

const online = () => hub(({ pathname }) => (pathname.endsWith('/tokenizer.json') ? { status: 200, body: tokenizerJson } : { status: 404 }));
const offline: Transport = {
  send: () => Promise.reject(new ConnectionError({ message: 'no route to host' })),
  close: () => Promise.resolve(),
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tinkex-tokenizer-cache-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

function libraryOf(transport: Transport, options: TokenizerOptions = {}): TokenizerLibrary {
  const parts = { transport, clock: systemClock, lifetime: new ClientLifetime() };
  return new TokenizerLibrary({ cacheDirectory: directory, ...options }, parts);
}

async function filesIn(folder: string, ending: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

describe('the cache of tokenizers', () => {
  it('needs no network after the first load', async () => {
    await libraryOf(online()).load('org/model');
    const tokenizer = await libraryOf(offline).load('org/model');
    expect(tokenizer.decode([1, 2])).toContain('hello');
    expect(await filesIn(directory, '.partial')).toEqual([]);
  });

  it('keeps models and hubs apart', async () => {
    await libraryOf(online()).load('org/model');
    await expect(libraryOf(offline).load('org/other')).rejects.toThrow(ConfigurationError);
    await expect(libraryOf(offline, { hubUrl: 'https://mirror.example' }).load('org/model')).rejects.toThrow('mirror.example');
  });

  it.each([
    ['cut', (content: string) => content.slice(0, 20)],
    ['changed', (content: string) => content.replace('hello', 'hollo')],
    ['empty', () => ''],
  ])('fetches a file again that was %s', async (_what, damage) => {
    await libraryOf(online()).load('org/model');
    const [blob = ''] = await filesIn(directory, '.blob');
    await writeFile(blob, damage(await readFile(blob, 'utf8')));
    const transport = online();
    await libraryOf(transport).load('org/model');
    expect(transport.requests).toHaveLength(2);
    expect(await readFile(blob, 'utf8')).toBe(tokenizerJson);
  });

  it.each(['', '[]', '{"tokenizer.json":"../../etc"}', '{"tokenizer.json":null}'])(
    'takes an index that says %j for none',
    async (content) => {
      await libraryOf(online()).load('org/model');
      const [index = ''] = await filesIn(directory, '.index.json');
      await writeFile(index, content);
      const transport = online();
      await libraryOf(transport).load('org/model');
      expect(transport.requests).toHaveLength(2);
    },
  );

  it('never keeps what is not JSON', async () => {
    await expect(libraryOf(hub(() => ({ status: 200, body: '<html>' }))).load('org/model')).rejects.toThrow('sent no JSON');
    expect(await readdir(directory)).toEqual([]);
  });

  it('loads all the same where nothing can be kept, and says so', async () => {
    const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const file = join(directory, 'file');
    await writeFile(file, '');
    const tokenizer = await libraryOf(online(), { cacheDirectory: join(file, 'below') }).load('org/model');
    expect(tokenizer.decode([1])).toContain('hello');
    expect(warning.mock.calls.map(([message]) => String(message))).toEqual([expect.stringContaining('could not be kept')]);
  });

  it('can be turned off', async () => {
    await libraryOf(online(), { cacheDirectory: false }).load('org/model');
    expect(await readdir(directory)).toEqual([]);
  });

  it('gives a reader the old set or the new one while other processes write, never a mixture or a half', async () => {
    const writer = `
      import { createHash, randomUUID } from 'node:crypto';
      import { rename, writeFile } from 'node:fs/promises';
      const replace = async (path, content) => { const partial = path + '.' + randomUUID(); await writeFile(partial, content); await rename(partial, path); };
      const [directory, index, letter] = process.argv.slice(1);
      const content = letter.repeat(200_000);
      const checksum = createHash('sha256').update(content).digest('hex');
      for (let round = 0; round < 40; round += 1) {
        await replace(directory + '/' + checksum + '.blob', content);
        await replace(index, JSON.stringify({ a: checksum, b: checksum }));
      }`;
    const cache = FileCache.in(directory);
    const bytes = (letter: string) => new TextEncoder().encode(letter.repeat(200_000));
    await cache?.write(
      'key',
      new Map([
        ['a', bytes('x')],
        ['b', bytes('x')],
      ]),
    );
    const [index = ''] = await filesIn(directory, '.index.json');
    const writers = ['y', 'z'].map((letter) => spawn(process.execPath, ['--input-type=module', '-e', writer, directory, index, letter]));
    const ends = Promise.all(writers.map((child) => once(child, 'exit')));
    let hasEnded = false;
    void ends.then(() => {
      hasEnded = true;
    });
    while (!hasEnded) {
      const files = await cache?.read('key');
      const letters = [...(files?.values() ?? [])].map((content) => `${content.length} ${String.fromCharCode(content[0] ?? 0)}`);
      expect(letters).toHaveLength(2);
      expect(letters[0]).toBe(letters[1]);
    }
    expect(await ends).toEqual([
      [0, null],
      [0, null],
    ]);
  }, 60_000);
});

describe('the token of the hub', () => {
  it('goes to the hub, and not to where it redirects', async () => {
    const transport = hub(({ host, pathname }) => {
      if (host === 'cdn.example') return { status: 200, body: tokenizerJson };
      return pathname.endsWith('/tokenizer.json') ? { status: 302, location: 'https://cdn.example/blob' } : { status: 404 };
    });
    await libraryOf(transport, { hubToken: 'hf_secret' }).load('org/model');
    expect(transport.requests.map(({ url, headers }) => [new URL(url).host, headers['authorization']])).toEqual([
      ['huggingface.co', 'Bearer hf_secret'],
      ['cdn.example', undefined],
      ['huggingface.co', 'Bearer hf_secret'],
    ]);
  });

  it('is that of the environment, for the default hub alone', () => {
    vi.stubEnv('HF_TOKEN', 'hf_secret');
    const tokenOf = (tokenizer?: TokenizerOptions) =>
      resolveOptions({ baseUrl: 'http://h', apiKey: 'tml-x', tokenizer }).tokenizer?.hubToken;
    expect(tokenOf()).toBe('hf_secret');
    expect(tokenOf({ hubUrl: 'https://mirror.example' })).toBeUndefined();
    expect(tokenOf({ hubUrl: 'https://mirror.example', hubToken: 'other' })).toBe('other');
    vi.unstubAllEnvs();
  });

  it('is what a refusal asks for', async () => {
    await expect(libraryOf(hub(() => ({ status: 401 }))).load('org/model')).rejects.toThrow(/401: the model is gated.*HF_TOKEN/);
  });
});

it.each([
  [{ XDG_CACHE_HOME: '/x', HOME: '/h' }, '/x'],
  [{ HOME: '/h' }, '/h/.cache'],
  [{ LOCALAPPDATA: 'C:/l' }, 'C:/l'],
  [{}, undefined],
])('with %j, files are kept in %s', (variables, expected) => {
  expect(readEnvironment(variables).cacheHome).toBe(expected);
});

it('uses the files of a directory in place of the byte tokenizer that a server names, and says so', async () => {
  const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const bytes = await libraryOf(offline, { directory }).load('tinkex/tiny', 'tinkex/bytes');
  expect(bytes.decode([104, 105])).toBe('hi');
  await writeFile(join(directory, 'tokenizer.json'), tokenizerJson);
  const tokenizer = await libraryOf(offline, { directory }).load('tinkex/tiny', 'tinkex/bytes');
  expect(tokenizer.decode([1])).toContain('hello');
  expect(warning.mock.calls.map(([message]) => String(message))).toEqual([
    `The server names the tokenizer tinkex/bytes; tokenizer.json in ${directory} is used instead.`,
  ]);
});
