import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startServing } from '../src/cli/serve.js';
import { openReplay, startServer } from '../src/index.js';
import { Command } from './command.js';

describe('serve', { timeout: 60_000 }, () => {
  const running: Command[] = [];

  function start(...args: string[]): Command {
    const command = new Command(...args);
    running.push(command);
    return command;
  }

  afterEach(async () => {
    for (const command of running.splice(0)) {
      if (command.child.exitCode === null) command.child.kill('SIGKILL');
    }
  });

  it('serves, says how to point clients at it, logs requests, and stops in order with its state kept', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'testkit-cli-'));
    const args = ['serve', '--port', '0', '--engine', 'canned', '--dialect', 'json', '--model', 'Qwen/Qwen3-8B', '--state', dir];
    const headers = { 'x-api-key': 'tml-test-key', 'content-type': 'application/json', 'x-idempotency-key': 'k' };
    const body = JSON.stringify({ tags: [], user_metadata: {}, sdk_version: '0.25.0' });

    const first = start(...args);
    const url = (await first.seen(/export TINKER_BASE_URL=(\S+)/))[1];
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await first.seen(/export TINKER_API_KEY=tml-test-key/);
    await first.seen(/tinker\.ServiceClient\(\)/);
    const models = await fetch(`${url}/api/v1/get_server_capabilities`, { headers });
    expect(await models.text()).toContain('Qwen/Qwen3-8B');
    await fetch(`${url}/api/v1/create_session`, { method: 'POST', headers, body });
    await first.seen(/POST {3}\/api\/v1\/create_session -> 200/);
    await fetch(`${url}/api/v1/heartbeat`, { method: 'POST', headers, body });
    await first.seen(/! route-unknown/);
    first.child.kill('SIGTERM');
    expect(await first.exited()).toBe(0);
    expect(first.output).toContain('Received SIGTERM: stopping and saving');
    expect(first.output).not.toMatch(/X-API-Key/i);

    const second = start(...args);
    const again = (await second.seen(/export TINKER_BASE_URL=(\S+)/))[1];
    const listed = await fetch(`${again}/api/v1/sessions`, { headers });
    expect(((await listed.json()) as { sessions: string[] }).sessions).toHaveLength(1);
    second.child.kill('SIGINT');
    expect(await second.exited()).toBe(0);
    await rm(dir, { recursive: true, force: true });
  });

  it('records a server into a folder', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'testkit-cli-'));
    const upstream = await startServer({ engine: 'canned' });
    const recorder = start('serve', '--port', '0', '--record', upstream.url, dir);
    const url = (await recorder.seen(/export TINKER_BASE_URL=(\S+)/))[1];
    await fetch(`${url}/api/v1/healthz`);
    recorder.child.kill('SIGTERM');
    expect(await recorder.exited()).toBe(0);
    expect(recorder.output).toContain('1 answers recorded');
    await upstream.close();
    const replay = await openReplay({ dir });
    expect((await replay.handle(new Request(`${replay.url}/api/v1/healthz`))).status).toBe(200);
    await rm(dir, { recursive: true, force: true });
  });

  it('plays chaos by a seed, and can be silent', async () => {
    const command = start('--port', '0', '--engine', 'canned', '--chaos', '3', '--chaos-rate', '1', '--no-log');
    const url = (await command.seen(/export TINKER_BASE_URL=(\S+)/))[1];
    expect(command.output).toContain('chaos seed 3');
    const outcomes = [];
    for (let call = 0; call < 3; call++) {
      const path = `${url}/api/v1/samplers/s${call}`;
      outcomes.push(
        await fetch(path, { headers: { 'x-api-key': 'tml-test-key' } }).then(
          ({ status }) => (status >= 400 && status !== 404 ? 'fault' : 'answer'),
          () => 'fault',
        ),
      );
    }
    expect(outcomes).toEqual(['fault', 'fault', 'fault']);
    expect(command.output).not.toContain('/api/v1/samplers');
  });

  it('sends the flags that it is given', async () => {
    const command = start(
      '--port',
      '0',
      '--engine',
      'canned',
      '--flag',
      'sample_cancel_enabled',
      '--flag',
      'sample_cancel_max_batch_size=7',
    );
    const url = (await command.seen(/export TINKER_BASE_URL=(\S+)/))[1];
    const headers = { 'x-api-key': 'tml-test-key', 'content-type': 'application/json', 'x-idempotency-key': 'k' };
    const answer = await fetch(`${url}/api/v1/client/dynamic_config`, { method: 'POST', headers, body: '{"sdk_version":"0.36.0"}' });
    expect(await answer.json()).toMatchObject({ sample_cancel_enabled: true, sample_cancel_max_batch_size: 7 });
  });

  it('logs every request and keeps none', async () => {
    const lines: string[] = [];
    const options = {
      port: 0,
      host: '127.0.0.1',
      engine: 'canned',
      dialect: 'hosted',
      model: [],
      anyModel: true,
      samplingSeed: 0,
      sampledLogprobs: 'raw',
      strict: false,
      chaosRate: 0,
      log: true,
    } as const;
    await using server = await startServing(options, { write: (line) => lines.push(line) });
    for (let call = 0; call < 3; call++) await fetch(`${server.url}/api/v1/healthz`);
    expect(lines).toHaveLength(3);
    expect(server.calls).toEqual([]);
  });

  it('accepts fields newer than the protocol with a notice, and says once which client it sees', async () => {
    const lines: string[] = [];
    const serving = {
      port: 0,
      host: '127.0.0.1',
      engine: 'canned',
      dialect: 'hosted',
      model: [],
      anyModel: true,
      samplingSeed: 0,
      sampledLogprobs: 'raw',
      chaosRate: 0,
      log: false,
    } as const;
    const post = async (strict: boolean) => {
      await using server = await startServing({ ...serving, strict }, { write: (line) => lines.push(line) });
      const headers = {
        'x-api-key': server.apiKey,
        'content-type': 'application/json',
        'x-idempotency-key': 'k',
        'user-agent': 'AsyncTinker/Python 9.9.9',
        'x-stainless-package-version': '9.9.9',
      };
      const body = JSON.stringify({ tags: [], sdk_version: '9.9.9', mood: 'good' });
      const send = () => fetch(`${server.url}/api/v1/create_session`, { method: 'POST', headers, body });
      const { status } = await send();
      await send();
      return status;
    };
    expect(await post(false)).toBe(200);
    expect(lines).toEqual([
      expect.stringMatching(/^Client: AsyncTinker\/Python 9\.9\.9, newer than the 0\.\d+\.\d+ that this server follows/),
      'Notice: createSession: mood is not a known field and was ignored',
    ]);
    expect(await post(true)).toBe(422);
  });

  it('stops when standard input ends, with the option for it', async () => {
    const command = new Command('serve', '--port', '0', '--until-stdin-ends');
    expect(await command.exited()).toBe(0);
    expect(command.output).toMatch(/http:.*Received the end of standard input: stopping/s);
  });

  it('refuses options that make no sense', async () => {
    for (const [args, message] of [
      [['serve', '--port', '99999'], /from 0 to 65535/],
      [['serve', '--dialect', 'klingon'], /Choose one of hosted/],
      [['serve', '--engine', 'gpu'], /learn or canned/],
      [['serve', '--flag', 'x y'], /NAME or NAME=VALUE/],
      [['serve', '--flag', 'no_such_flag'], /no flag "no_such_flag"/],
      [['serve', '--chaos', 'x'], /whole number/],
      [['serve', '--chaos-rate', '3'], /from 0 to 1/],
      [['serve', '--durability', 'strict'], /has no effect without '--state <dir>'/],
      [['serve', '--chaos-rate', '0.5'], /has no effect without '--chaos <seed>'/],
    ] as const) {
      const command = start(...args);
      expect(await command.exited()).toBe(1);
      expect(command.errors).toMatch(message);
    }
  });
});
