import { readJwtClaims } from '@tinkex/http';
import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';
import { optimBody, sampleBody } from './raw-client.js';

describe('client configuration', () => {
  rawTest('is empty unless flags are set', async ({ client }) => {
    expect((await client.post('client/config', { sdk_version: '0.25.0' })).json).toEqual({});
    expect((await client.post('client/dynamic_config', { sdk_version: '0.25.0' })).json).toEqual({ refresh_interval_sec: 300 });
  });
});

describe('flags', () => {
  rawTest.override({ options: { config: { parallelFwdbwdChunks: false, fwdbwdMaxChunkLen: 2 }, refreshIntervalSec: 20 } });

  rawTest('are sent, and only those', async ({ client }) => {
    expect((await client.post('client/config', { sdk_version: '0.25.0' })).json).toEqual({
      parallel_fwdbwd_chunks: false,
      fwdbwd_max_chunk_len: 2,
    });
    expect((await client.post('client/dynamic_config', { sdk_version: '0.25.0' })).json).toEqual({ refresh_interval_sec: 20 });
  });
});

describe('the flag pjwt_auth_enabled', () => {
  const flagged = rawTest.extend({ options: { flags: { pjwt_auth_enabled: true } } });

  flagged('turns on the exchange of keys for tokens', async ({ client }) => {
    const { json } = await client.post('auth/token', {});
    expect((await client.get('sessions', { apiKey: json.jwt })).status).toBe(200);
  });
});

describe('the JWT exchange', () => {
  rawTest.override({ options: { jwt: { lifetimeSec: 600, email: 'ada@example.com' } } });

  rawTest('gives a token that works until it expires', async ({ clock, server, client }) => {
    expect((await client.post('client/config', { sdk_version: '0.25.0' })).json).toEqual({ pjwt_auth_enabled: true });
    const { json } = await client.post('auth/token', {});
    expect(readJwtClaims(json.jwt)['exp']).toBe(clock.wallMs() / 1000 + 600);
    expect(readJwtClaims(json.jwt)).toMatchObject({ email: 'ada@example.com', org_id: 'testkit' });
    expect((await client.get('sessions', { apiKey: json.jwt })).status).toBe(200);
    expect(server.count('listSessions', { tenant: 'test' })).toBe(1);
    server.verify();
    await clock.advance(600_000);
    expect((await client.get('sessions', { apiKey: json.jwt })).status).toBe(401);
  });

  rawTest('notes a client that goes on with its key', async ({ server, client }) => {
    expect((await client.get('sessions')).status).toBe(200);
    expect(brokenRules(server)).toEqual(['jwt-not-used']);
  });
});

describe('without the JWT exchange', () => {
  rawTest('there is no token to be had', async ({ client }) => {
    expect((await client.post('auth/token', {})).status).toBe(404);
  });
});

describe('telemetry', () => {
  const event = { event: 'SESSION_START', event_id: 'e', event_session_index: 0, severity: 'INFO', timestamp: '2026-01-01T00:00:00Z' };
  const batch = { platform: 'Linux', sdk_version: '0.25.0', session_id: 's', process_uuid: 'p' };

  rawTest('is taken and kept', async ({ server, client }) => {
    const { json } = await client.post('telemetry', { ...batch, events: [event] });
    expect(json).toEqual({ status: 'accepted' });
    expect(server.telemetryEvents).toHaveLength(1);
    server.verify();
  });

  rawTest('of more than 100 events, or none, is refused', async ({ server, client }) => {
    expect((await client.post('telemetry', { ...batch, events: Array.from({ length: 101 }, () => event) })).status).toBe(422);
    expect((await client.post('telemetry', { ...batch, events: [] })).status).toBe(422);
    expect(brokenRules(server)).toEqual(['body-invalid', 'body-invalid']);
  });
});

describe('the account', () => {
  rawTest('has an audit log by day', async ({ clock, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { json } = await client.post('save_weights', { model_id: modelId, path: 'a', seq_id: 1, overwrite: false, type: 'save_weights' });
    await client.result(json.request_id, 'SaveWeights');
    const { entries } = (await client.get('audit?event_type=all')).json;
    expect(entries).toEqual([
      {
        timestamp: new Date(clock.wallMs()).toISOString(),
        event: 'checkpoint_saved',
        event_details: { actor: 'tml:organization_user:test', tinker_path: `tinker://${modelId}/weights/a` },
        model_id: modelId,
        tinker_path: `tinker://${modelId}/weights/a`,
        purpose: null,
      },
    ]);
    expect((await client.get('audit?event_type=all&day=2025-01-15')).json.entries).toEqual([]);
    expect((await client.get('audit?event_type=checkpoints')).json.entries).toEqual(entries);
    expect((await client.get('audit?event_type=projects')).json.entries).toEqual([]);
    expect((await client.get('audit?event_type=keys')).status).toBe(422);
  });

  rawTest('has usage by the hour', async ({ client }) => {
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const { json: step } = await client.post('optim_step', optimBody(modelId, 1));
    await client.result(step.request_id, 'OptimStep');
    const samplerId = await client.createSampler(sessionId);
    const { json } = await client.sample(sampleBody(samplerId, 0));
    await client.result(json.request_id, 'Sample');
    const range = (start: string, end: string): string =>
      `billing/usage/events?starting_on=${encodeURIComponent(start)}&ending_before=${encodeURIComponent(end)}`;
    const { data, sessions } = (await client.get(range('2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'))).json;
    expect(data.map((event: { event_info: unknown }) => event.event_info)).toEqual([
      { type: 'sampling_sample', token_count: 4 },
      { type: 'sampling_prefill', cached: false, token_count: 3 },
    ]);
    expect(Object.keys(sessions)).toEqual([sessionId]);
    expect(data[0]).toMatchObject({ effective_rate_usd_per_million_tokens: 1, estimated_cost_usd: 4e-6 });
    expect((await client.get(range('2026-01-01T00:30:00Z', '2026-01-01T01:00:00Z'))).status).toBe(400);
    expect((await client.get(range('2026-01-01T00:00:00Z', '2026-01-20T00:00:00Z'))).status).toBe(400);
    expect((await client.get(range('2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z'))).status).toBe(400);
    expect((await client.get('billing/usage/events')).status).toBe(422);
  });
});

describe('storage', () => {
  rawTest('is summed by project', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    for (const [seqId, path] of [
      [1, 'a'],
      [2, 'b'],
    ]) {
      const { json } = await client.post('save_weights', {
        model_id: modelId,
        path,
        seq_id: seqId,
        overwrite: false,
        type: 'save_weights',
      });
      await client.result(json.request_id, 'SaveWeights');
    }
    const { checkpoints } = (await client.get('checkpoints')).json;
    const sizeBytes = checkpoints[0].size_bytes + checkpoints[1].size_bytes;
    const { data } = (await client.get('billing/usage/checkpoints/current')).json;
    expect(data).toEqual([expect.objectContaining({ project_id: 'default', checkpoint_count: 2, size_bytes: sizeBytes })]);
    expect((await client.get('billing/usage/checkpoints/current?project_id=other')).json.data).toEqual([]);
  });
});

describe('an API key', () => {
  rawTest('says whose it is, and revokes itself', async ({ server, client }) => {
    const plain = { 'x-idempotency-key': undefined, 'content-type': undefined };
    const { json } = await client.get('auth/apikey/me');
    expect(json).toEqual({
      key_id: 1,
      name: 'test',
      note: '',
      details: { org_details: { name: 'testkit' }, user_details: { email: 'test@example.com' } },
    });
    expect((await client.call('DELETE', '/api/v1/auth/apikey/me', { headers: plain })).status).toBe(200);
    server.verify();
    expect((await client.get('auth/apikey/me')).status).toBe(401);
  });
});

describe('routes that do not exist', () => {
  rawTest('get 404, and another method 405', async ({ server, client }) => {
    expect((await client.post('heartbeat', {})).status).toBe(404);
    expect((await client.post('future/retrieve', {})).status).toBe(404);
    expect((await client.get('create_session')).status).toBe(405);
    expect((await client.call('PUT', '/api/v1/training_runs/r')).status).toBe(405);
    expect((await client.call('GET', '/')).status).toBe(404);
    expect(brokenRules(server)).toEqual(['route-unknown', 'route-unknown', 'method-not-allowed', 'method-not-allowed', 'route-unknown']);
    expect(() => server.verify()).toThrow(/heartbeat is not an endpoint.*docs\/protocol\/README\.md#(?:route-unknown|method-not-allowed)/);
  });
});

describe('a base path', () => {
  rawTest.override({ options: { basePath: '/services/tinker-prod/' } });

  rawTest('stands before every route', async ({ server, client }) => {
    expect(server.url).toMatch(/\/services\/tinker-prod$/);
    expect((await client.get('healthz')).status).toBe(200);
    const outside = await fetch(`${new URL(server.url).origin}/api/v1/healthz`);
    expect(outside.status).toBe(404);
  });
});

describe('a clock that is off', () => {
  rawTest.override({ options: { clockSkewMs: -86_400_000 } });

  rawTest('shows in the date header', async ({ client, clock }) => {
    const { headers } = await client.get('healthz');
    expect(new Date(String(headers['date'])).getTime()).toBe(clock.wallMs() - 86_400_000);
  });
});

describe('unloading a model', () => {
  rawTest('ends it; a repeat is answered by the same promise', async ({ client }) => {
    const modelId = await client.createModel(await client.createSession());
    const { json } = await client.post('unload_model', { model_id: modelId, type: 'unload_model' });
    expect((await client.result(json.request_id, 'UnloadModel')).json).toEqual({ model_id: modelId, type: 'unload_model' });
    expect((await client.post('unload_model', { model_id: modelId, type: 'unload_model' })).json).toEqual(json);
    expect((await client.post('optim_step', optimBody(modelId, 1))).status).toBe(404);
  });

  rawTest('waits for what was accepted before it', async ({ server, client }) => {
    const modelId = await client.createModel(await client.createSession());
    const gate = server.gate('optimStep', { at: 'execution' });
    const step = await client.post('optim_step', optimBody(modelId, 1));
    const save = await client.post('save_weights', { model_id: modelId, path: 'last', seq_id: 2, overwrite: false, type: 'save_weights' });
    const unload = await client.post('unload_model', { model_id: modelId, type: 'unload_model' });
    expect((await client.post('optim_step', optimBody(modelId, 3))).status).toBe(404);
    await gate.waitFor(1);
    gate.open();
    expect((await client.result(unload.json.request_id, 'UnloadModel')).json).toEqual({ model_id: modelId, type: 'unload_model' });
    expect((await client.poll(step.json.request_id, 'OptimStep')).json.metrics).toEqual({ 'step:max': 1 });
    expect((await client.poll(save.json.request_id, 'SaveWeights')).json.path).toBe(`tinker://${modelId}/weights/last`);
  });
});
