import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createResponse, systemClock, type Transport, type TransportRequest } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, ByteTokenizer, ConfigurationError, ConnectionError, ModelInput, type Tokenizer } from '@tinkex/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { ClientLifetime } from '../runtime/call-scope.js';
import { buildHuggingFaceTokenizer } from './huggingface-tokenizer.js';
import { TokenizerLibrary, type TokenizerLibraryParts, type TokenizerOptions } from './tokenizer-library.js';

const tokenizerJson = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: { type: 'WordLevel', vocab: { '[UNK]': 0, hello: 1, world: 2 }, unk_token: '[UNK]' },
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tinkex-tokenizer-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

type Answer = { status: number; body?: unknown; location?: string } | Error;

function hub(answer: (url: URL) => Answer): Transport & { readonly requests: TransportRequest[] } {
  const requests: TransportRequest[] = [];
  return {
    requests,
    async send(request) {
      requests.push(request);
      const reply = answer(new URL(request.url));
      if (reply instanceof Error) throw reply;
      const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
      const headers = reply.location === undefined ? {} : { location: reply.location };
      return createResponse({ status: reply.status, headers, body: new TextEncoder().encode(text) });
    },
    async close() {
      // Nothing is held.
    },
  };
}

const libraryOf = (options: TokenizerOptions, transport: Transport, more: Partial<TokenizerLibraryParts> = {}) =>
  new TokenizerLibrary(options, { transport, clock: systemClock, lifetime: new ClientLifetime(), ...more });
const noNetwork = () => hub(() => new ConnectionError({ message: 'no route to host' }));
const untilAborted = ({ signal }: TransportRequest) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new AbortedError()));
  });
const words = (tokenizer: Tokenizer, text: string) => [...ModelInput.fromText(text, tokenizer).toInts()];

describe('TokenizerLibrary', () => {
  it('loads from a directory, without the network, once for each id', async () => {
    await writeFile(join(directory, 'tokenizer.json'), JSON.stringify(tokenizerJson));
    const transport = noNetwork();
    const library = libraryOf({ directory }, transport);
    const tokenizer = await library.load('org/model');
    expect(words(tokenizer, 'hello world')).toEqual([1, 2]);
    expect(tokenizer.decode([1, 2])).toContain('hello');
    expect(await library.load('org/model')).toBe(tokenizer);
    expect(transport.requests).toEqual([]);
  });

  it('knows the ID of a token, and of the token that ends a text', async () => {
    await writeFile(join(directory, 'tokenizer.json'), JSON.stringify(tokenizerJson));
    await writeFile(join(directory, 'tokenizer_config.json'), JSON.stringify({ eos_token: { content: 'world', lstrip: false } }));
    const tokenizer = await libraryOf({ directory }, noNetwork()).load('org/model');
    expect(tokenizer.tokenId?.('hello')).toBe(1);
    expect(tokenizer.tokenId?.('nothing')).toBeUndefined();
    expect(tokenizer.eosTokenId).toBe(2);
  });

  it('prefers the directory of the id itself', async () => {
    await writeFile(join(directory, 'tokenizer.json'), '{}');
    await mkdir(join(directory, 'org', 'model'), { recursive: true });
    await writeFile(join(directory, 'org', 'model', 'tokenizer.json'), JSON.stringify(tokenizerJson));
    const library = libraryOf({ directory }, noNetwork());
    expect(words(await library.load('org/model:rev1'), 'world')).toEqual([2]);
  });

  it('takes the directory for a model that the server names by a path', async () => {
    await mkdir(join(directory, 'tiny-qwen3'));
    await writeFile(join(directory, 'tiny-qwen3', 'tokenizer.json'), JSON.stringify(tokenizerJson));
    const transport = noNetwork();
    expect(words(await libraryOf({ directory }, transport).load('/models/tiny-qwen3'), 'world')).toEqual([2]);
    expect(words(await libraryOf({ directory: join(directory, 'tiny-qwen3') }, transport).load('/models/other'), 'world')).toEqual([2]);
    expect(transport.requests).toEqual([]);
  });

  it('reads the path itself when it exists here, and says so when it does not', async () => {
    await writeFile(join(directory, 'tokenizer.json'), JSON.stringify(tokenizerJson));
    const transport = noNetwork();
    expect(words(await libraryOf({}, transport).load(directory), 'hello')).toEqual([1]);
    await expect(libraryOf({}, transport).load('/models/tiny-qwen3')).rejects.toThrow('this machine has no tokenizer.json there');
    expect(transport.requests).toEqual([]);
  });

  it('takes what the user supplies before everything else, and continues when that is nothing', async () => {
    const own: Tokenizer = { encode: () => [7], decode: () => 'seven' };
    const asked: string[] = [];
    const load = (id: string) => {
      asked.push(id);
      return id === 'org/tok' ? own : undefined;
    };
    const library = libraryOf({ load, hubUrl: false }, noNetwork());
    expect(await library.load('meta-llama/Llama-3.1-8B', 'org/tok')).toBe(own);
    await expect(library.load('org/other')).rejects.toThrow('the hub is turned off');
    expect(asked).toEqual(['org/tok', 'org/other']);
  });

  it('fetches from a hub by revision, follows redirects and sends no credential', async () => {
    const transport = hub(({ pathname }) => {
      if (pathname.endsWith('/tokenizer_config.json')) return { status: 404 };
      return pathname.startsWith('/cdn/') ? { status: 200, body: tokenizerJson } : { status: 302, location: '/cdn/file' };
    });
    const library = libraryOf({ hubUrl: 'https://hub.example/mirror' }, transport);
    expect(words(await library.load('moonshotai/Kimi-K2.6'), 'hello')).toEqual([1]);
    expect(transport.requests[0]?.url).toBe(
      'https://hub.example/mirror/moonshotai/Kimi-K2.6/resolve/b5aabbfb20227ed42becbf5541dbffd213942c58/tokenizer.json',
    );
    for (const { headers } of transport.requests) expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding']);
  });

  it('says offline how to supply the files, and tries again the next time', async () => {
    let isOnline = false;
    const transport = hub(({ pathname }) => {
      if (!isOnline) return new ConnectionError({ message: 'getaddrinfo ENOTFOUND' });
      return pathname.endsWith('/tokenizer.json') ? { status: 200, body: tokenizerJson } : { status: 404 };
    });
    const library = libraryOf({}, transport);
    const failure = await library.load('org/model').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as Error).message).toContain('tokenizer: { directory }');
    isOnline = true;
    expect(words(await library.load('org/model'), 'hello')).toEqual([1]);
  });

  it.each([
    ['no such tokenizer', { status: 404 }, 'has no tokenizer.json'],
    ['a gated model', { status: 401 }, 'status 401'],
    ['a page instead of JSON', { status: 200, body: '<html>' }, 'sent no JSON'],
    ['an endless redirect', { status: 302, location: '/again' }, 'redirected more than'],
  ])('explains %s', async (_, answer, message) => {
    const library = libraryOf(
      {},
      hub(() => answer),
    );
    await expect(library.load('org/model')).rejects.toThrow(message);
  });

  it('gives up a hub that sends nothing for a minute, and asks again the next time', async () => {
    let isStalled = true;
    const working = hub(({ pathname }) => (pathname.endsWith('/tokenizer.json') ? { status: 200, body: tokenizerJson } : { status: 404 }));
    const transport: Transport = { ...working, send: (request) => (isStalled ? untilAborted(request) : working.send(request)) };
    const clock = new VirtualClock();
    const library = libraryOf({}, transport, { clock });
    const failure = library.load('org/model').catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await failure).toMatchObject({ code: 'TINKEX_CONFIGURATION', message: expect.stringContaining('sent nothing for 60 s') });
    isStalled = false;
    expect(words(await library.load('org/model'), 'hello')).toEqual([1]);
    expect(clock.pending).toBe(0);
  });

  it('ends with the client', async () => {
    const lifetime = new ClientLifetime();
    const loading = libraryOf({}, { ...noNetwork(), send: untilAborted }, { lifetime }).load('org/model');
    await new Promise((resolve) => setImmediate(resolve));
    lifetime.close();
    await expect(loading).rejects.toMatchObject({ name: 'AbortError', message: 'The client was closed.' });
  });

  it('does not follow a hub from https to http', async () => {
    const transport = hub(() => ({ status: 302, location: 'http://elsewhere.example/tokenizer.json?token=hidden' }));
    const failure = await libraryOf({}, transport)
      .load('org/model')
      .catch((error: unknown) => error);
    expect(inspect(failure)).toContain('from https to http');
    expect(inspect(failure)).not.toContain('hidden');
    expect(transport.requests).toHaveLength(1);
  });

  it('passes an abort on as it is', async () => {
    const library = libraryOf(
      {},
      hub(() => new AbortedError()),
    );
    await expect(library.load('org/model')).rejects.toBeInstanceOf(AbortedError);
  });

  it.each(['../../etc/passwd', 'a/../b', 'a//b', '/a', 'a/b/c/d', 'a b', ''])(
    'refuses the id %j before it becomes a path or URL',
    async (id) => {
      const transport = noNetwork();
      const library = libraryOf({ load: () => undefined }, transport);
      await expect(library.load('org/model', id === '' ? '-' : id)).rejects.toBeInstanceOf(ConfigurationError);
      expect(transport.requests).toEqual([]);
    },
  );

  it('explains a missing directory, a file that is not a tokenizer and a missing package', async () => {
    await expect(libraryOf({ directory: join(directory, 'nowhere') }, noNetwork()).load('a/b')).rejects.toThrow('holds no tokenizer.json');
    await writeFile(join(directory, 'tokenizer.json'), '{"model":{"type":"NoSuchModel"}}');
    await expect(libraryOf({ directory }, noNetwork()).load('a/b')).rejects.toThrow('does not understand');
    const missing = () => Promise.reject(new Error('Cannot find package'));
    await expect(buildHuggingFaceTokenizer('a/b', { tokenizer: {}, config: {} }, missing)).rejects.toThrow(
      'npm install @huggingface/tokenizers',
    );
  });
});

describe('ids by the shared vectors', () => {
  interface IdCase {
    readonly name: string;
    readonly input: { readonly model_name: string; readonly tokenizer_id: string | null };
    readonly expected: { readonly tokenizer_id: string; readonly revision?: string };
  }
  const cases = readVectors('tokenizer-id') as IdCase[];

  it.each(cases)('$name', async ({ input, expected }) => {
    const asked: (string | undefined)[] = [];
    const own: Tokenizer = { encode: () => [], decode: () => '' };
    const load = (id: string, revision?: string) => {
      asked.push(id, revision);
      return own;
    };
    await libraryOf({ load }, noNetwork()).load(input.model_name, input.tokenizer_id ?? undefined);
    expect(asked).toEqual([expected.tokenizer_id, expected.revision]);
  });
});

describe('the embedded engine', () => {
  it.each(['tinkex/tiny', 'tinkex/bytes'])('%s has the built-in byte tokenizer, without files or network', async (id) => {
    expect(await libraryOf({}, noNetwork()).load(id)).toBeInstanceOf(ByteTokenizer);
  });
});
