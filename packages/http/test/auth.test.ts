import { inspect } from 'node:util';
import { AbortedError, ConfigurationError } from '@tinkex/types';
import { describe, expect, it, vi } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { planJwtRefresh } from '../src/auth/jwt-auth.js';
import { apiKeyAuth, createResponse, credentialCommand, HttpClient, jwtAuth } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';
import { failure } from './support/failure.js';
import { Gate } from './support/gate.js';
import { ScriptedTransport } from './support/scripted-transport.js';
import { turn } from './support/turn.js';

const baseUrl = 'http://service.test';
const node = process.execPath;

function tokenExpiring(atMs: number, name = 'user'): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ sub: name, exp: atMs / 1_000 })}.sig`;
}

describe('apiKeyAuth', () => {
  it('sends the key as X-API-Key and nothing as Authorization', async () => {
    const transport = new ScriptedTransport([createResponse({ body: {} })]);
    await new HttpClient({ baseUrl, transport, auth: apiKeyAuth('tml-key') }).request({ method: 'GET', path: '/x' });
    expect(transport.requests[0]?.headers).toMatchObject({ 'x-api-key': 'tml-key' });
    expect(transport.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('shows itself nowhere', () => {
    const auth = apiKeyAuth('tml-key');
    const client = new HttpClient({ baseUrl, auth });
    for (const text of [
      inspect(auth, { depth: 9, showHidden: true }),
      JSON.stringify({ auth }),
      inspect(client, { depth: 9, showHidden: true }),
    ]) {
      expect(text).not.toContain('tml-key');
    }
  });

  it.each(['', 'tml-a\nb', 'tml a', 'tml-ü'])('refuses %j without repeating it', (key) => {
    const make = () => apiKeyAuth(key);
    expect(make).toThrow(ConfigurationError);
    if (key !== '') expect(make).not.toThrow(new RegExp(key));
  });
});

describe('jwt-refresh vectors', () => {
  interface Expected {
    get_token_refreshes_first: boolean;
    background_refresh_delay_seconds: number;
  }
  it.each(readVectors<{ seconds_until_exp: number | null }, Expected>('jwt-refresh'))('$name', async ({ input, expected }) => {
    const clock = new VirtualClock();
    const left = input.seconds_until_exp;
    const token = left === null ? 'opaque' : tokenExpiring(clock.wallMs() + left * 1_000);
    expect(planJwtRefresh(token, clock.wallMs())).toEqual({
      isStale: expected.get_token_refreshes_first,
      backgroundDelayMs: expected.background_refresh_delay_seconds * 1_000,
    });
    let exchanges = 0;
    const next = tokenExpiring(clock.wallMs() + 7_200_000, 'next');
    const auth = jwtAuth({
      clock,
      token,
      exchange: async () => {
        exchanges += 1;
        return next;
      },
    });
    expect(await auth.headers()).toEqual({ 'x-api-key': expected.get_token_refreshes_first ? next : token });
    expect(exchanges).toBe(expected.get_token_refreshes_first ? 1 : 0);
    await auth.close?.();
    expect(clock.pending).toBe(0);
  });
});

describe('jwtAuth', () => {
  it('exchanges once for many concurrent calls, then not until five minutes before the expiry', async () => {
    const clock = new VirtualClock();
    let exchanges = 0;
    const auth = jwtAuth({ clock, exchange: async () => tokenExpiring(clock.wallMs() + 3_600_000, `user-${++exchanges}`) });
    const transport = new ScriptedTransport([() => createResponse({ body: {} })], true);
    const client = new HttpClient({ baseUrl, transport, auth, clock });
    await Promise.all(Array.from({ length: 20 }, () => client.request({ method: 'GET', path: '/x' })));
    expect(exchanges).toBe(1);
    await clock.advance(3_299_999);
    expect(exchanges).toBe(1);
    await clock.advance(1);
    expect(exchanges).toBe(2);
    await client.close();
    expect(clock.pending).toBe(0);
  });

  it('does not spin on tokens that live shorter than the refresh margin', async () => {
    const clock = new VirtualClock();
    let exchanges = 0;
    const auth = jwtAuth({
      clock,
      exchange: async () => {
        exchanges += 1;
        return tokenExpiring(clock.wallMs() + 30_000);
      },
    });
    await auth.headers();
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1_000);
      await auth.headers();
    }
    expect(exchanges).toBeGreaterThan(1);
    expect(exchanges).toBeLessThanOrEqual(7);
    await auth.close?.();
  });

  it('keeps the old token when a refresh fails, reports it, and retries a minute later', async () => {
    const clock = new VirtualClock();
    const failures: unknown[] = [];
    let isDown = false;
    let exchanges = 0;
    const auth = jwtAuth({
      clock,
      onRefreshFailure: (error) => failures.push(error),
      exchange: async () => {
        exchanges += 1;
        if (isDown) throw new Error('down');
        return tokenExpiring(clock.wallMs() + 400_000, `user-${exchanges}`);
      },
    });
    const first = await auth.headers();
    isDown = true;
    await clock.advance(100_000);
    expect(failures).toEqual([new Error('down')]);
    expect(await auth.headers()).toEqual(first);
    isDown = false;
    await clock.advance(60_000);
    expect(exchanges).toBe(3);
    expect(await auth.headers()).not.toEqual(first);
    await auth.close?.();
  });

  it('fails the call when there has never been a token', async () => {
    const auth = jwtAuth({ exchange: () => Promise.reject(new Error('down')), clock: new VirtualClock() });
    await expect(auth.headers()).rejects.toThrow('down');
  });

  it('stops waiting for a shared exchange when its own signal is aborted', async () => {
    const gate = new Gate<string>();
    const clock = new VirtualClock();
    const auth = jwtAuth({ exchange: () => gate.opened, clock });
    const controller = new AbortController();
    const impatient = failure(Promise.resolve(auth.headers(controller.signal)));
    const patient = auth.headers();
    controller.abort();
    expect(await impatient).toBeInstanceOf(AbortedError);
    gate.open(tokenExpiring(clock.wallMs() + 3_600_000));
    expect(await patient).toHaveProperty('x-api-key');
    await auth.close?.();
  });

  it('makes no exchange for a call that is aborted already', async () => {
    const exchange = vi.fn(() => Promise.reject(new Error('down')));
    const auth = jwtAuth({ exchange, clock: new VirtualClock() });
    expect(await failure(Promise.resolve(auth.headers(AbortSignal.abort())))).toBeInstanceOf(AbortedError);
    expect(exchange).not.toHaveBeenCalled();
  });

  it('retries a minute later even when onRefreshFailure throws', async () => {
    const clock = new VirtualClock();
    let exchanges = 0;
    const exchange = async (): Promise<string> => {
      exchanges += 1;
      if (exchanges > 1) throw new Error('down');
      return tokenExpiring(clock.wallMs() + 3_600_000);
    };
    const onRefreshFailure = (): never => {
      throw new RangeError('mine');
    };
    const auth = jwtAuth({ exchange, clock, onRefreshFailure });
    await auth.headers();
    await clock.advance(3_300_000);
    expect(exchanges).toBe(2);
    await clock.advance(60_000);
    expect(exchanges).toBe(3);
    await auth.close?.();
  });

  it('does not show its token', async () => {
    const clock = new VirtualClock();
    const token = tokenExpiring(clock.wallMs() + 3_600_000);
    const auth = jwtAuth({ clock, token, exchange: async () => token });
    expect(inspect(auth, { depth: 9, showHidden: true }) + JSON.stringify(auth)).not.toContain(token);
    expect(auth.token).toBe(token);
  });
});

describe('credentialCommand', () => {
  const print = (text: string): [string, ...string[]] => [node, '-e', `process.stdout.write(${JSON.stringify(text)})`];

  it('sends the trimmed output of a program that runs without a shell', async () => {
    const transport = new ScriptedTransport([createResponse({ body: {} })]);
    await new HttpClient({ baseUrl, transport, auth: credentialCommand(print(' tml-from-cmd \n')) }).request({ method: 'GET', path: '/x' });
    expect(transport.headers('x-api-key')).toEqual(['tml-from-cmd']);
  });

  it('gives text to the shell as the user wrote it', async () => {
    expect(await credentialCommand('printf tml-%s "a b" | tr " " -').credential()).toBe('tml-a-b');
  });

  it('hands arguments over unharmed, whatever they hold', async () => {
    const script = 'process.stdout.write(Buffer.from(process.argv[1]).toString("hex"))';
    const nasty = '$(touch x); `id` "quoted" && exit 1';
    expect(await credentialCommand([node, '-e', script, nasty]).credential()).toBe(Buffer.from(nasty).toString('hex'));
  });

  it('shares one run between calls that overlap, and runs again for the next', async () => {
    const auth = credentialCommand([node, '-e', 'process.stdout.write("tml-" + process.pid)']);
    const [first, second] = await Promise.all([auth.credential(), auth.credential()]);
    expect(first).toBe(second);
    expect(await auth.credential()).not.toBe(first);
  });

  it.each<[string, [string, ...string[]], RegExp]>([
    ['fails', [node, '-e', 'console.log("tml-leak"); console.error("tml-leak"); process.exit(3)'], /exit code 3/],
    ['prints nothing', [node, '-e', ''], /printed nothing/],
    ['prints two lines', [node, '-e', 'console.log("tml-leak\\ntml-leak")'], /cannot carry/],
    ['prints far too much', [node, '-e', 'process.stdout.write("tml-leak".repeat(20000))'], /printed more than/],
    ['does not exist', ['/nonexistent/tml-leak'], /could not be started \(ENOENT\)/],
  ])('ends the call immediately when the command %s, without showing its output', async (_name, command, message) => {
    const transport = new ScriptedTransport([]);
    const client = new HttpClient({ baseUrl, transport, auth: credentialCommand(command) });
    const error = await failure(client.request({ method: 'POST', path: '/x' }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(message);
    expect(error.attempts).toBe(1);
    expect(inspect(error, { depth: 9 })).not.toContain('tml-leak');
    expect(transport.requests).toHaveLength(0);
  });

  it('ends a command that hangs, with all it has started', async () => {
    const clock = new VirtualClock();
    const auth = credentialCommand('sleep 1000 | sleep 1000', { timeoutMs: 5_000, clock });
    const error = failure(auth.credential());
    await turn();
    await clock.advance(5_000);
    expect(await error).toBeInstanceOf(ConfigurationError);
    expect((await error).message).toContain('5000 ms');
    expect(clock.pending).toBe(0);
  });

  it('ends a running command when the client closes', async () => {
    const auth = credentialCommand('sleep 1000');
    const client = new HttpClient({ baseUrl, transport: new ScriptedTransport([]), auth });
    const error = failure(client.request({ method: 'GET', path: '/x' }));
    await turn();
    await client.close();
    expect(await error).toBeInstanceOf(AbortedError);
  });

  it('refuses an empty command', () => {
    expect(() => credentialCommand('')).toThrow(ConfigurationError);
  });
});
