import { describe, expect } from 'vitest';
import { brokenRules, rawTest } from './fixture.js';
import { optimBody, sampleBody } from './raw-client.js';

describe('a session', () => {
  rawTest('lives as long as its heartbeats come', async ({ clock, server, client }) => {
    const sessionId = await client.createSession();
    for (let beat = 0; beat < 5; beat++) {
      await clock.advance(599_000);
      expect((await client.post('session_heartbeat', { session_id: sessionId, type: 'session_heartbeat' })).status).toBe(200);
    }
    server.verify();
  });

  rawTest('ends without them, and takes its models and samplers with it', async ({ clock, server, client }) => {
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const samplerId = await client.createSampler(sessionId);
    await clock.advance(600_001);
    expect((await client.post('session_heartbeat', { session_id: sessionId, type: 'session_heartbeat' })).status).toBe(404);
    expect((await client.post('optim_step', optimBody(modelId, 1))).status).toBe(404);
    expect((await client.sample(sampleBody(samplerId, 0))).status).toBe(404);
    expect(brokenRules(server)).toEqual(['session-unknown', 'session-unknown', 'session-unknown']);
  });

  rawTest('can be ended by the test', async ({ server, client }) => {
    const sessionId = await client.createSession();
    server.expireSession(sessionId);
    expect((await client.post('session_heartbeat', { session_id: sessionId, type: 'session_heartbeat' })).status).toBe(404);
  });

  rawTest('is listed newest first, in pages', async ({ client }) => {
    const ids = [await client.createSession(), await client.createSession(), await client.createSession()];
    expect((await client.get('sessions?limit=2&offset=0&access_scope=owned')).json.sessions).toEqual([ids[2], ids[1]]);
    expect((await client.get('sessions?limit=2&offset=2&access_scope=owned')).json.sessions).toEqual([ids[0]]);
    expect((await client.get('sessions/nobody?access_scope=owned')).status).toBe(404);
  });

  rawTest('refuses a query with unknown names or values', async ({ server, client }) => {
    expect((await client.get('sessions?limit=many')).status).toBe(422);
    expect((await client.get('sessions?access_scope=everything')).status).toBe(422);
    expect(brokenRules(server)).toEqual(['query-invalid', 'query-invalid']);
  });

  rawTest('has a trace behind a signed link', async ({ client, server }) => {
    const sessionId = await client.createSession();
    const { json } = await client.get(`sessions/${sessionId}/trace_export`);
    expect(json.status).toBe('ready');
    const path = (json.url as string).slice(server.url.length);
    expect((await client.call('GET', path, { headers: { 'x-api-key': undefined } })).status).toBe(200);
    expect((await client.call('GET', path.replace(/signature=../, 'signature=xx'))).status).toBe(403);
  });
});

describe('a finished session', () => {
  const finish = (reason: string, detail: string | null = null) => ({ reason: { type: reason }, detail });

  rawTest('keeps its first reason, refuses operations and answers heartbeats with 410', async ({ server, client }) => {
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const samplerId = await client.createSampler(sessionId);
    expect((await client.post(`sessions/${sessionId}/finish`, finish('errored', 'out of data'))).status).toBe(200);
    expect((await client.post(`sessions/${sessionId}/finish`, finish('success'))).status).toBe(200);
    expect((await client.post('session_heartbeat', { session_id: sessionId, type: 'session_heartbeat' })).status).toBe(410);
    expect((await client.post('optim_step', optimBody(modelId, 1))).status).toBe(400);
    expect((await client.sample(sampleBody(samplerId, 0))).status).toBe(400);
    server.verify();
    const { sessions } = (await client.post('sessions/search', { session_id: sessionId })).json;
    expect(sessions[0].status).toEqual({ type: 'client_finished', reason: { type: 'errored' }, detail: 'out of data' });
  });

  rawTest('needs a known reason and a known session', async ({ client }) => {
    const sessionId = await client.createSession();
    expect((await client.post(`sessions/${sessionId}/finish`, finish('bored'))).status).toBe(422);
    expect((await client.post('sessions/nobody/finish', finish('success'))).status).toBe(404);
  });
});

describe('the search for sessions', () => {
  const named = (display_name: string, user_metadata = {}) => ({ tags: [], user_metadata, sdk_version: '0.36.0', display_name });

  rawTest('goes page by page, newest first', async ({ client, clock }) => {
    const ids: string[] = [];
    for (let round = 0; round < 5; round++) {
      ids.unshift(await client.createSession());
      // Two share a moment: the ID decides between them.
      if (round !== 2) await clock.advance(1_000);
    }
    const found: string[] = [];
    let cursor: unknown;
    do {
      const { json } = await client.post('sessions/search', { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...json.sessions.map(({ session_id }: { session_id: string }) => session_id));
      cursor = json.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(ids);
  });

  rawTest('matches names by words, metadata exactly, and statuses', async ({ client, server }) => {
    const find = async (request: object): Promise<string[]> =>
      (await client.post('sessions/search', request)).json.sessions.map(({ display_name }: { display_name: string }) => display_name);
    const { json } = await client.post('create_session', named('Nightly run A', { lr: '1' }));
    await client.post('create_session', named('nightly b'));
    expect(await find({ display_name: 'RUN night' })).toEqual(['Nightly run A']);
    expect(await find({ display_name: 'zzz', session_id: json.session_id })).toEqual(['Nightly run A']);
    expect(await find({ user_metadata: { lr: '1' } })).toEqual(['Nightly run A']);
    expect(await find({ owner: { type: 'user', owner_urns: ['tml:organization_user:else'] } })).toEqual([]);
    await client.post(`sessions/${json.session_id}/finish`, { reason: { type: 'success' }, detail: null });
    expect(await find({ statuses: [{ type: 'active' }] })).toEqual(['nightly b']);
    expect(await find({ statuses: [{ type: 'client_finished', reasons: ['errored'] }] })).toEqual([]);
    expect(await find({ statuses: [{ type: 'client_finished' }] })).toEqual(['Nightly run A']);
    expect((await client.get(`sessions/${json.session_id}`)).json).toMatchObject({
      display_name: 'Nightly run A',
      user_metadata: { lr: '1' },
    });
    server.verify();
  });
});

describe('projects', () => {
  rawTest.override({ options: { projects: ['known'] } });

  rawTest('a session moves only to one there is', async ({ client }) => {
    const sessionId = await client.createSession();
    const path = `/api/v1/sessions/${sessionId}/project`;
    expect((await client.call('PUT', path, { body: { project_id: 'known' } })).status).toBe(200);
    expect((await client.call('PUT', path, { body: { project_id: 'unknown' } })).status).toBe(403);
    expect((await client.call('PUT', path, { body: {} })).status, 'endpoints.md 1').toBe(400);
    expect((await client.call('PUT', '/api/v1/sessions/nobody/project', { body: { project_id: 'known' } })).status).toBe(404);
  });
});

describe('two tenants', () => {
  rawTest('see nothing of each other', async ({ server, client }) => {
    const other = client.sibling('tml-other');
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const samplerId = await client.createSampler(sessionId);
    const { json } = await client.sample(sampleBody(samplerId, 0));
    const saved = await client.post('save_weights', { model_id: modelId, path: 'a', seq_id: 1, overwrite: false, type: 'save_weights' });
    await client.result(saved.json.request_id, 'SaveWeights');

    expect((await other.get('sessions')).json.sessions).toEqual([]);
    expect((await other.get('training_runs')).json.cursor.total_count).toBe(0);
    expect((await other.get('checkpoints')).json.checkpoints).toEqual([]);
    const statuses = await Promise.all([
      other.get(`sessions/${sessionId}`),
      other.get(`training_runs/${modelId}`),
      other.get(`training_runs/${modelId}/checkpoints`),
      other.get(`samplers/${samplerId}`),
      other.post('get_info', { model_id: modelId, type: 'get_info' }),
      other.post('optim_step', optimBody(modelId, 2)),
      other.sample(sampleBody(samplerId, 1)),
      other.poll(json.request_id, 'Sample'),
      other.post('session_heartbeat', { session_id: sessionId, type: 'session_heartbeat' }),
      other.post('weights_info', { tinker_path: `tinker://${modelId}/weights/a` }),
      other.call('DELETE', `/api/v1/training_runs/${modelId}/checkpoints/weights/a`),
      other.get(`training_runs/${modelId}/checkpoints/weights/a/archive`),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 404));
    expect((await client.get('checkpoints')).json.checkpoints).toHaveLength(1);
    expect(new Set(server.calls.map(({ tenant }) => tenant))).toEqual(new Set(['test', 'tenant-2']));
    expect(server.count('listSessions', { tenant: 'tenant-2' })).toBe(1);
    await other.close();
  });

  rawTest('have the same sequence numbers without a clash', async ({ server, client }) => {
    const other = client.sibling('tml-other');
    const [mine, theirs] = [await client.createModel(await client.createSession()), await other.createModel(await other.createSession())];
    expect(mine).not.toBe(theirs);
    expect((await client.post('optim_step', optimBody(mine, 1))).status).toBe(200);
    expect((await other.post('optim_step', optimBody(theirs, 1))).status).toBe(200);
    server.verify();
    await other.close();
  });
});
