import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient, RestClient, ServiceClient, type TrainingClient } from '@tinkex/clients';
import { startServer, type TestServer } from '@tinkex/testkit';
import { NotFoundError, ValidationError } from '@tinkex/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let server: TestServer;
let service: ServiceClient;
let rest: RestClient;
let training: TrainingClient;
let weights: string;
let samplerWeights: string;

beforeAll(async () => {
  server = await startServer({ engine: 'canned', ignoreRules: [] });
  service = new ServiceClient({ ...server.clientOptions, telemetry: false });
  rest = service.createRestClient();
  training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 4 });
  ({ path: weights } = await training.saveState('step-1'));
  ({ path: samplerWeights } = await training.saveWeightsForSampler('sampler-1'));
});

afterAll(async () => {
  await service.close();
  await server.close();
});

describe('RestClient against the testkit', () => {
  it('needs no session', async () => {
    const lonely = await startServer({ engine: 'canned' });
    const client = new ServiceClient({ ...lonely.clientOptions, telemetry: false });
    expect(await client.createRestClient().listTrainingRuns().toArray()).toEqual([]);
    expect(lonely.count('createSession')).toBe(0);
    await client.close();
    await lonely.close();
  });

  it('getTrainingRun, by id and by path', async () => {
    const run = await rest.getTrainingRun(training.modelId);
    expect(run).toMatchObject({ trainingRunId: training.modelId, baseModel: 'tinkex/tiny', isLora: true, loraRank: 4, corrupted: false });
    expect(run.lastRequestTime).toBeInstanceOf(Date);
    expect(await rest.getTrainingRunByTinkerPath(weights, { accessScope: 'accessible' })).toMatchObject({
      trainingRunId: training.modelId,
    });
    expect(server.callsTo('getTrainingRun').map(({ query }) => query)).toEqual([{ accessScope: 'owned' }, { accessScope: 'accessible' }]);
  });

  it('getWeightsInfoByTinkerPath', async () => {
    expect(await rest.getWeightsInfoByTinkerPath(weights)).toMatchObject({ baseModel: 'tinkex/tiny', isLora: true, loraRank: 4 });
  });

  it('listTrainingRuns: the first page awaited, all items iterated', async () => {
    const others = await Promise.all([1, 2, 3].map(() => service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 1 })));
    const stream = rest.listTrainingRuns({ limit: 2 });
    const page = await stream;
    expect(page.trainingRuns).toHaveLength(2);
    expect(page.cursor).toMatchObject({ offset: 0, limit: 2, totalCount: 4 });
    const ids = new Set<string>();
    for await (const run of rest.listTrainingRuns({ limit: 2 })) ids.add(run.trainingRunId);
    expect(ids).toEqual(new Set([training.modelId, ...others.map(({ modelId }) => modelId)]));
    expect(await rest.listTrainingRuns({ projectId: 'no-such-project' }).toArray()).toEqual([]);
  });

  it('listCheckpoints and listUserCheckpoints', async () => {
    const paths = [samplerWeights, weights].sort();
    const ofRun = await rest.listCheckpoints(training.modelId).toArray();
    expect(ofRun.map(({ tinkerPath }) => tinkerPath).sort()).toEqual(paths);
    expect(ofRun.map(({ checkpointType }) => checkpointType).sort()).toEqual(['sampler', 'training']);
    const ofUser = await rest.listUserCheckpoints({ limit: 1 }).toArray();
    expect(ofUser.map(({ tinkerPath }) => tinkerPath).sort()).toEqual(paths);
    expect((await rest.listUserCheckpoints()).checkpoints).toHaveLength(2);
  });

  it('publish, unpublish, set and clear the expiry, delete', async () => {
    const { path } = await training.saveState('short-lived');
    const find = async () => (await rest.listCheckpoints(training.modelId).toArray()).find(({ tinkerPath }) => tinkerPath === path);
    await rest.publishCheckpointFromTinkerPath(path);
    expect(await find()).toMatchObject({ public: true });
    await rest.unpublishCheckpointFromTinkerPath(path);
    expect(await find()).toMatchObject({ public: false });
    await rest.setCheckpointTtlFromTinkerPath(path, 3_600);
    expect((await find())?.expiresAt).toBeInstanceOf(Date);
    await rest.setCheckpointTtlFromTinkerPath(path, null);
    expect((await find())?.expiresAt).toBeUndefined();
    await rest.deleteCheckpointFromTinkerPath(path);
    expect(await find()).toBeUndefined();
    await expect(rest.deleteCheckpoint(training.modelId, 'weights/short-lived')).rejects.toBeInstanceOf(NotFoundError);
  });

  it('getCheckpointArchiveUrl, by id and by path', async () => {
    const { url, expires } = await rest.getCheckpointArchiveUrlFromTinkerPath(weights);
    expect(url).toMatch(/^http:/);
    expect(expires.getTime()).toBeGreaterThan(Date.now());
    expect((await rest.getCheckpointArchiveUrl(training.modelId, 'sampler_weights/sampler-1')).url).toMatch(/^http:/);
  });

  it('downloadCheckpoint: what the listener throws does not end it', async () => {
    const root = await mkdtemp(join(tmpdir(), 'tinkex-rest-'));
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown): void => void warnings.push(warning);
    process.on('warning', onWarning);
    try {
      const onProgress = (): void => {
        throw new Error('the progress bar is broken');
      };
      expect(await rest.downloadCheckpoint(weights, { directory: join(root, 'checkpoint'), onProgress })).toMatchObject({
        receivedBytes: expect.any(Number),
      });
      expect(warnings).toContainEqual(expect.objectContaining({ message: 'the progress bar is broken' }));
    } finally {
      process.off('warning', onWarning);
      await rm(root, { recursive: true, force: true });
    }
  });

  it('downloadCheckpoint: files on disk, progress, overwrite only on request', async () => {
    const root = await mkdtemp(join(tmpdir(), 'tinkex-rest-'));
    try {
      const directory = join(root, 'nested', 'checkpoint');
      const seen: number[] = [];
      const result = await rest.downloadCheckpoint(samplerWeights, {
        directory,
        onProgress: ({ receivedBytes }) => seen.push(receivedBytes),
      });
      expect(result).toMatchObject({ directory });
      expect(seen.at(-1)).toBe(result.receivedBytes);
      const files = await readdir(directory);
      expect(files).toHaveLength(result.fileCount);
      expect(files).toContain('adapter_config.json');
      await expect(rest.downloadCheckpoint(samplerWeights, { directory })).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
      expect(await rest.downloadCheckpoint(weights, { directory, overwrite: true })).toMatchObject({ directory });
      expect(await readdir(join(root, 'nested'))).toEqual(['checkpoint']);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  it('getSession, listSessions, assignSessionProject', async () => {
    const sessionId = await service.sessionId();
    const session = await rest.getSession(sessionId);
    expect(session.trainingRunIds).toContain(training.modelId);
    expect(session.samplerIds).toBeInstanceOf(Array);
    expect(await rest.listSessions().toArray()).toContain(sessionId);
    expect((await rest.listSessions({ limit: 1 })).sessions).toHaveLength(1);
    await rest.assignSessionProject(sessionId, 'project-1');
    expect(server.callsTo('assignSessionProject')[0]?.request).toEqual({ projectId: 'project-1' });
  });

  it('getSampler', async () => {
    const sampling = await service.createSamplingClient({ modelPath: samplerWeights });
    expect(await rest.getSampler(sampling.samplingSessionId)).toMatchObject({ baseModel: 'tinkex/tiny', modelPath: samplerWeights });
  });

  it('exportSessionTrace', async () => {
    expect(await rest.exportSessionTrace(await service.sessionId())).toMatch(/^http:/);
  });

  it('searchSessions: page by page, with conditions, and refused before anything is sent', async () => {
    const named = new ServiceClient({ ...server.clientOptions, telemetry: false, displayName: 'Nightly A', userMetadata: { lr: '1' } });
    const sessionId = await named.sessionId();
    const [found] = (await rest.searchSessions({ displayName: 'nightly', userMetadata: { lr: '1' } })).sessions;
    expect(found).toMatchObject({ sessionId, displayName: 'Nightly A', status: { type: 'active' } });
    expect(await rest.getSession(sessionId)).toMatchObject({ displayName: 'Nightly A', userMetadata: { lr: '1' } });
    await named.close('errored', { detail: 'no data' });
    const ended = await rest.searchSessions({ statuses: [{ type: 'client_finished', reasons: ['errored'] }] }).toArray();
    expect(ended).toMatchObject([{ sessionId, status: { type: 'client_finished', reason: 'errored', detail: 'no data' } }]);
    const before = server.count('searchSessions');
    const all = await rest.searchSessions({ limit: 1 }).toArray();
    expect(all.map((session) => session.sessionId)).toEqual((await rest.listSessions()).sessions);
    expect(server.count('searchSessions')).toBe(before + all.length);
    await expect(rest.searchSessions({ limit: 201 }).toArray()).rejects.toThrow(ValidationError);
    expect(server.count('searchSessions')).toBe(before + all.length);
  });

  it('stands alone: its own connection, no session, and closed on its own', async () => {
    const lonely = await startServer({ engine: 'canned' });
    await using alone = new RestClient({ baseUrl: lonely.url, apiKey: lonely.apiKey });
    expect(await alone.listSessions().toArray()).toEqual([]);
    expect(lonely.count('createSession')).toBe(0);
    await alone.close();
    await expect(alone.listSessions().toArray()).rejects.toThrow('The client was closed.');
    expect(() => new RestClient({ tags: ['a'] } as object)).toThrow('Unknown option tags');
    lonely.verify();
    await lonely.close();
  });

  it('borrows the connection of a service client, which stays open', async () => {
    const borrowed = service.createRestClient();
    await borrowed.close();
    expect(await rest.listSessions().toArray()).not.toEqual([]);
  });

  it('AdminClient: getAuditLog, getBillingUsage, getCurrentCheckpointStorageUsage', async () => {
    await using admin = new AdminClient({ baseUrl: server.url, apiKey: server.apiKey });
    expect((await admin.getAuditLog()).entries).toBeInstanceOf(Array);
    await admin.getAuditLog({ eventType: 'checkpoints', day: '2026-01-15' });
    expect(server.callsTo('auditLog').map(({ query }) => query)).toEqual([
      { eventType: 'all' },
      { eventType: 'checkpoints', day: '2026-01-15' },
    ]);
    const usage = await admin.getBillingUsage(new Date('2026-07-13T00:00:00Z'), '2026-07-14T00:00:00+00:00');
    expect(usage.data).toBeInstanceOf(Array);
    const { data } = await admin.getCurrentCheckpointStorageUsage();
    expect(data).toMatchObject([{ projectId: 'project-1' }]);
    expect(await admin.getCurrentCheckpointStorageUsage({ projectId: 'other' })).toMatchObject({ data: [] });
    expect(server.callsTo('billingUsage')[0]?.path).toContain(
      'starting_on=2026-07-13T00%3A00%3A00Z&ending_before=2026-07-14T00%3A00%3A00Z',
    );
  });

  it('whoami, with and without tokens', async () => {
    await expect(rest.whoami()).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    const issuing = await startServer({ engine: 'canned', jwt: { email: 'ada@example.org' } });
    const client = new ServiceClient({ ...issuing.clientOptions, telemetry: false });
    expect(await client.createRestClient().whoami()).toMatchObject({ email: 'ada@example.org', orgUrn: 'tml:organization:testkit' });
    await client.close();
    await issuing.close();
  });

  it('refuses paths that are none before it sends anything', async () => {
    const fresh = new ServiceClient({ ...server.clientOptions, telemetry: false });
    const rest = fresh.createRestClient();
    const before = server.calls.length;
    for (const path of ['run/weights/a', 'tinker://run', 'tinker://run/other/a', 'tinker://a/weights/b/c']) {
      await expect(rest.getTrainingRunByTinkerPath(path)).rejects.toBeInstanceOf(ValidationError);
      await expect(rest.getWeightsInfoByTinkerPath(path)).rejects.toBeInstanceOf(ValidationError);
      await expect(rest.getCheckpointArchiveUrlFromTinkerPath(path)).rejects.toBeInstanceOf(ValidationError);
      await expect(rest.deleteCheckpointFromTinkerPath(path)).rejects.toBeInstanceOf(ValidationError);
      await expect(rest.publishCheckpointFromTinkerPath(path)).rejects.toBeInstanceOf(ValidationError);
      await expect(rest.unpublishCheckpointFromTinkerPath(path)).rejects.toBeInstanceOf(ValidationError);
      await expect(rest.setCheckpointTtlFromTinkerPath(path, 1)).rejects.toBeInstanceOf(ValidationError);
      await expect(rest.downloadCheckpoint(path)).rejects.toBeInstanceOf(ValidationError);
    }
    await expect(rest.getCheckpointArchiveUrl('', 'weights/a')).rejects.toMatchObject({ code: 'TINKEX_CONFIGURATION' });
    expect(server.calls.length).toBe(before);
    await fresh.close();
  });

  it('breaks no rule of the protocol', () => {
    server.verify();
  });
});
