import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AdminClient, RestClient } from '@tinkex/clients';
import { createResponse, type ResponseInit, type Transport, type TransportRequest } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { ConflictError, NotFoundError, RequestFailedError, ServerError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { identityOf } from '../src/rest/identity.js';
import { drive } from './support/drive.js';

type Answer = (request: TransportRequest) => ResponseInit;

/** A REST client in front of hand-written answers, as other servers give them. */
function against(answer: Answer, apiKey = 'none') {
  const clock = new VirtualClock();
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    async send(request) {
      if (request.url.includes('/client/')) return createResponse({ status: 404, body: { detail: 'Not Found' } });
      requests.push(request);
      return createResponse(answer(request));
    },
    async close() {
      // Nothing is held.
    },
  };
  const options = { baseUrl: 'http://other.test', apiKey, transport, clock, random: () => 0, telemetry: false };
  const rest = new RestClient(options);
  const admin = new AdminClient(options);
  return { clock, requests, rest, admin, paths: () => requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`) };
}

const json = (body: unknown, status = 200): ResponseInit => ({ status, body });
function call<T>(body: unknown, use: (rest: RestClient, admin: AdminClient) => PromiseLike<T>): PromiseLike<T> {
  const { rest, admin } = against(() => json(body));
  return use(rest, admin);
}

describe('paths of other servers', () => {
  const listed = { checkpoint_id: 'arch', checkpoint_type: 'sampler', time: 1_754_624_123, tinker_path: 'tinker://m/sampler_weights/arch' };
  const archive: ResponseInit = { status: 302, headers: { location: 'http://other.test/file.tar' }, body: '' };
  /** Knows checkpoints under bare names only. */
  const bareIds: Answer = ({ url, method }) => {
    const { pathname } = new URL(url);
    if (pathname.endsWith('/m/checkpoints')) return json({ checkpoints: [listed] });
    if (pathname.endsWith('/checkpoints/arch/archive')) return archive;
    if (pathname.endsWith('/checkpoints/arch') && method === 'DELETE') return json({});
    return json({ detail: 'Method Not Allowed' }, 405);
  };

  it('tinker://model/name is taken as it is', async () => {
    const { rest, paths } = against(bareIds);
    expect((await rest.getCheckpointArchiveUrlFromTinkerPath('tinker://m/arch')).url).toBe('http://other.test/file.tar');
    await rest.deleteCheckpointFromTinkerPath('tinker://m/arch');
    expect(paths()).toEqual(['GET /api/v1/training_runs/m/checkpoints/arch/archive', 'DELETE /api/v1/training_runs/m/checkpoints/arch']);
  });

  it('a path with a kind is looked up under the ID that the list of the server gives', async () => {
    const { rest, paths } = against(bareIds);
    await rest.getCheckpointArchiveUrlFromTinkerPath(listed.tinker_path);
    await rest.deleteCheckpointFromTinkerPath(listed.tinker_path);
    expect(paths().filter((path) => path.endsWith('/checkpoints'))).toHaveLength(2);
    expect(paths().at(-1)).toBe('DELETE /api/v1/training_runs/m/checkpoints/arch');
  });

  it('a checkpoint of another kind with the same name is never touched', async () => {
    const { rest, paths } = against(bareIds);
    await expect(rest.deleteCheckpointFromTinkerPath('tinker://m/weights/arch')).rejects.toBeInstanceOf(NotFoundError);
    expect(paths().filter((path) => path.startsWith('DELETE'))).toEqual(['DELETE /api/v1/training_runs/m/checkpoints/weights/arch']);
  });

  it('405 is a NotFoundError like 404: the endpoint does not exist here', async () => {
    const { rest } = against(() => json({ detail: 'Method Not Allowed' }, 405));
    await expect(rest.getSession('s')).rejects.toMatchObject({ name: 'NotFoundError', status: 405 });
  });
});

describe('a checkpoint on the disk of the server', () => {
  const answerWith =
    (location: string): Answer =>
    ({ url }) =>
      url.endsWith('/archive') ? { status: 302, headers: { location }, body: '' } : json({ detail: 'no' }, 404);

  it('is shown, not refused', async () => {
    const { rest } = against(answerWith('file:///srv/checkpoints/arch'));
    expect((await rest.getCheckpointArchiveUrl('m', 'sampler_weights/arch')).url).toBe('file:///srv/checkpoints/arch');
  });

  it('is copied when the caller allows it, and named otherwise', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tinkex-local-'));
    try {
      await mkdir(join(folder, 'from', 'deep'), { recursive: true });
      await writeFile(join(folder, 'from', 'adapter_config.json'), '{}');
      await writeFile(join(folder, 'from', 'deep', 'weights.bin'), 'abc');
      const { rest } = against(answerWith(pathToFileURL(join(folder, 'from')).href));
      const path = 'tinker://m/sampler_weights/arch';
      const directory = join(folder, 'to');
      const failure = await rest.downloadCheckpoint(path, { directory }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'ConfigurationError', option: 'allowLocalFiles' });
      expect((failure as Error).message).toContain(pathToFileURL(join(folder, 'from')).href);
      const copied = await rest.downloadCheckpoint(path, { directory, allowLocalFiles: true });
      expect(copied).toMatchObject({ fileCount: 2, totalBytes: 5, receivedBytes: 0 });
      expect(await readFile(join(directory, 'deep', 'weights.bin'), 'utf8')).toBe('abc');
      const limited = rest.downloadCheckpoint(path, { directory, overwrite: true, allowLocalFiles: true, maxBytes: 4 });
      await expect(limited).rejects.toThrow('larger than 4 bytes');
      await symlink('/etc', join(folder, 'from', 'link'));
      const linked = rest.downloadCheckpoint(path, { directory, overwrite: true, allowLocalFiles: true });
      await expect(linked).rejects.toThrow('neither a file nor a directory');
      expect(await readdir(folder)).toEqual(['from', 'to']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('elsewhere says so', async () => {
    const { rest } = against(answerWith('file:///no/such/place'));
    const copy = rest.downloadCheckpoint('tinker://m/sampler_weights/arch', { directory: join(tmpdir(), 'never'), allowLocalFiles: true });
    await expect(copy).rejects.toThrow('cannot be read on this machine');
  });
});

describe('answers of other servers', () => {
  it('a run with the least possible fields and a time without a zone', async () => {
    const body = { training_run_id: '17', base_model: 'm', model_owner: 'me', is_lora: true, last_request_time: '2026-08-08T03:35:23' };
    const run = await call(body, (rest) => rest.getTrainingRun('17'));
    expect(run).toMatchObject({ trainingRunId: '17', corrupted: false });
    expect(run.lastRequestTime.toISOString()).toBe('2026-08-08T03:35:23.000Z');
  });

  it('checkpoints with bare names, without a cursor, with unknown fields', async () => {
    const checkpoint = {
      checkpoint_id: 'step-1',
      checkpoint_type: 'training',
      time: 1_754_624_123,
      tinker_path: 'tinker://r/step-1',
      extra: 1,
    };
    const { rest, paths } = against(() => json({ checkpoints: [checkpoint] }));
    expect(await rest.listCheckpoints('r').toArray()).toMatchObject([{ checkpointId: 'step-1', public: false }]);
    expect(await rest.listUserCheckpoints({ limit: 50 }).toArray()).toHaveLength(1);
    await rest.deleteCheckpoint('r', 'step-1');
    expect(paths().at(-1)).toBe('DELETE /api/v1/training_runs/r/checkpoints/step-1');
  });

  it('a server that ignores limit and offset', async () => {
    const { requests, rest } = against(() => json({ sessions: ['a', 'b', 'c'] }));
    expect(await rest.listSessions({ limit: 2 }).toArray()).toEqual(['a', 'b', 'c']);
    expect(await rest.listSessions({ limit: 3 }).toArray()).toEqual(['a', 'b', 'c']);
    expect(requests).toHaveLength(3);
  });

  it('changes that are answered by 204 without a body', async () => {
    const { rest, paths } = against(() => ({ status: 204 }));
    const path = 'tinker://r:train:0/weights/a';
    await rest.publishCheckpointFromTinkerPath(path);
    await rest.unpublishCheckpointFromTinkerPath(path);
    await rest.setCheckpointTtlFromTinkerPath(path, null);
    await rest.deleteCheckpointFromTinkerPath(path);
    await rest.assignSessionProject('s', 'p');
    const checkpoint = '/api/v1/training_runs/r:train:0/checkpoints/weights/a';
    expect(paths()).toEqual([
      `POST ${checkpoint}/publish`,
      `DELETE ${checkpoint}/publish`,
      `PUT ${checkpoint}/ttl`,
      `DELETE ${checkpoint}`,
      'PUT /api/v1/sessions/s/project',
    ]);
  });

  it('an unpublish that removes nothing: the null of the expiry is sent, other unset fields are not', async () => {
    const { requests, rest } = against(() => ({ status: 200, body: {} }));
    await rest.setCheckpointTtlFromTinkerPath('tinker://r/weights/a', null);
    expect(requests[0]?.body).toBe('{"ttl_seconds":null}');
  });

  it.each([
    [
      'a redirect with a date',
      { status: 302, headers: { location: 'https://files.test/a?sig=1', expires: 'Wed, 27 May 2026 20:00:00 GMT' } },
      '2026-05-27T20:00:00.000Z',
    ],
    [
      'a redirect with a date without a zone',
      { status: 302, headers: { location: 'https://files.test/a?sig=1', expires: '2026-05-27T20:00:00' } },
      '2026-05-27T20:00:00.000Z',
    ],
    ['a redirect without a date', { status: 302, headers: { location: 'https://files.test/a?sig=1' } }, '2026-01-01T00:15:00.000Z'],
    [
      'a redirect with a broken date',
      { status: 307, headers: { location: 'https://files.test/a?sig=1', expires: '0' } },
      '2026-01-01T00:15:00.000Z',
    ],
    [
      'JSON with text',
      { status: 200, body: { url: 'https://files.test/a?sig=1', expires: '2026-05-27T20:00:00+00:00' } },
      '2026-05-27T20:00:00.000Z',
    ],
    [
      'JSON with a number',
      { status: 200, body: { url: 'https://files.test/a?sig=1', expires: 1_779_912_000 } },
      '2026-05-27T20:00:00.000Z',
    ],
  ])('an archive as %s', async (_, answer, expires) => {
    const { rest } = against(() => answer);
    const archive = await rest.getCheckpointArchiveUrl('r', 'weights/a');
    expect(archive.url).toBe('https://files.test/a?sig=1');
    expect(archive.expires.toISOString()).toBe(expires);
  });

  it('an archive behind a relative redirect, and one without Location or with another scheme', async () => {
    const relative = against(() => ({ status: 302, headers: { location: '/files/a' } }));
    expect((await relative.rest.getCheckpointArchiveUrl('r', 'a')).url).toBe('http://other.test/files/a');
    await expect(against(() => ({ status: 302 })).rest.getCheckpointArchiveUrl('r', 'a')).rejects.toMatchObject({ status: 302 });
    const file = against(() => ({ status: 302, headers: { location: 'ftp://files.test/a' } }));
    await expect(file.rest.getCheckpointArchiveUrl('r', 'a')).rejects.toMatchObject({ code: 'TINKEX_VALIDATION' });
  });

  it('an archive that is still being built: asked again every 30 s', async () => {
    let answered = 0;
    const { clock, rest } = against(() => {
      answered += 1;
      // Each round of the loop includes the eleven attempts of the HTTP layer.
      return answered <= 11 ? json({ detail: 'building' }, 503) : json({ url: 'https://files.test/a', expires: 1_779_912_000 });
    });
    const startMs = clock.elapsedMs;
    await drive(clock, rest.getCheckpointArchiveUrl('r', 'a'));
    expect(answered).toBe(12);
    expect(clock.elapsedMs - startMs).toBeGreaterThanOrEqual(30_000);
  });

  it('a trace that takes a while, one that fails', async () => {
    let asked = 0;
    const slow = against(() => {
      asked += 1;
      return asked < 4 ? json({ status: 'pending' }) : json({ status: 'ready', url: 'https://files.test/t' });
    });
    const startMs = slow.clock.elapsedMs;
    expect(await drive(slow.clock, slow.rest.exportSessionTrace('s'))).toBe('https://files.test/t');
    expect(slow.clock.elapsedMs - startMs).toBe(15_000);
    await expect(call({ status: 'failed', error: 'no data' }, (rest) => rest.exportSessionTrace('s'))).rejects.toBeInstanceOf(
      RequestFailedError,
    );
    await expect(call({ status: 'ready' }, (rest) => rest.exportSessionTrace('s'))).rejects.toMatchObject({ code: 'TINKEX_VALIDATION' });
  });

  it('a bill with a kind of usage that is not known yet', async () => {
    const event = { bucket_start: '2026-07-13T05:00:00Z', bucket_end: '2026-07-13T06:00:00Z' };
    const data = [
      { ...event, event_info: { type: 'storage', gigabyte_hours: 1.5 } },
      { ...event, event_info: { type: 'teleportation', distance: 3 } },
    ];
    const usage = await call({ data }, (_, admin) => admin.getBillingUsage('2026-07-13T00:00:00Z', '2026-07-14T00:00:00Z'));
    expect(usage.data).toHaveLength(2);
    expect(usage.data[0]?.eventInfo).toEqual({ type: 'storage', gigabyteHours: 1.5 });
  });

  it('samplers, sessions, weights and audit entries with their optional parts missing', async () => {
    expect(await call({ sampler_id: 'x', base_model: 'm' }, (rest) => rest.getSampler('x'))).toMatchObject({ baseModel: 'm' });
    expect(await call({ training_run_ids: [], sampler_ids: [] }, (rest) => rest.getSession('x'))).toMatchObject({ samplerIds: [] });
    expect(
      await call({ base_model: 'm', is_lora: false }, (rest) => rest.getWeightsInfoByTinkerPath('tinker://r/weights/a')),
    ).toMatchObject({ isLora: false });
    const entries = [{ timestamp: '2025-01-15T10:00:00Z', event: 'anything' }];
    expect((await call({ entries }, (_, admin) => admin.getAuditLog())).entries).toMatchObject([{ event: 'anything' }]);
  });

  it('a route that does not exist is a NotFoundError immediately; a conflict is retried, then surfaces', async () => {
    const missing = against(() => json({ detail: 'Not Found' }, 404));
    await expect(missing.admin.getAuditLog()).rejects.toBeInstanceOf(NotFoundError);
    expect(missing.requests).toHaveLength(1);
    const taken = against(() => json({ detail: 'already public' }, 409));
    await expect(drive(taken.clock, taken.rest.publishCheckpointFromTinkerPath('tinker://r/weights/a'))).rejects.toBeInstanceOf(
      ConflictError,
    );
    expect(taken.requests.length).toBeGreaterThan(11);
    const broken = against(() => json({ detail: 'oops' }, 500));
    await expect(drive(broken.clock, broken.rest.getSampler('x'))).rejects.toBeInstanceOf(ServerError);
  });
});

describe('whoami, by the shared vectors', () => {
  interface Whoami {
    readonly user_urn: string;
    readonly org_urn?: string;
    readonly email: string | null;
  }
  interface JwtCase {
    readonly name: string;
    readonly input: string;
    readonly expected: { readonly claims_error?: boolean; readonly whoami?: Whoami };
    readonly expected_0_25?: { readonly whoami?: Whoami };
  }
  const cases = readVectors('jwt') as JwtCase[];

  // Without org_id the reference fails; the page asks a new client for null instead, as 0.25 answered.
  it.each(cases)('$name', ({ input, expected, expected_0_25 }) => {
    const whoami = expected.whoami ?? expected_0_25?.whoami;
    if (whoami === undefined) {
      expect(() => identityOf(input, true)).toThrow('does not say who it belongs to');
      return;
    }
    const { user_urn: userUrn, org_urn: orgUrn, email } = whoami;
    expect(identityOf(input, true)).toEqual({ userUrn, orgUrn, email: email ?? undefined });
    // A key that was not exchanged must come from an issuer of user keys.
    expect(() => identityOf(input, false)).toThrow();
  });

  it('reads a key that is a user’s own JWT', async () => {
    const payload = Buffer.from(JSON.stringify({ iss: 'passport-prod', sub: 'tml:user:1', email: 'a@b.c' })).toString('base64url');
    const { rest, requests } = against(() => json({}), `eyJhbGciOiJub25lIn0.${payload}.sig`);
    expect(await rest.whoami()).toEqual({ userUrn: 'tml:user:1', email: 'a@b.c' });
    expect(requests).toEqual([]);
  });
});
