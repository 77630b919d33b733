import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecoveryMonitor, type RestClient, ServiceClient, type TrainingClient } from '@tinkex/clients';
import type { Transport, TransportRequest, TransportResponse } from '@tinkex/http';
import { createTestServer, memoryTransport, type TestServer, VirtualClock } from '@tinkex/testkit';
import { ConfigurationError, ConnectionError, NotFoundError, ValidationError } from '@tinkex/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drive } from './support/drive.js';

const FILES = ['adapter_config.json', 'adapter_model.safetensors'];
/** The address of the last file of an export. */
const isWeightsFile = (url: string) => url.includes('/signed/file/') && url.includes('safetensors');

let root: string;
let clock: VirtualClock;
let server: TestServer;
let service: ServiceClient;
let rest: RestClient;
let training: TrainingClient;
let weights: string;
/** Stands between the client and the server, for the requests of one test. */
let intercept: ((request: TransportRequest, send: Transport['send']) => Promise<TransportResponse>) | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tinkex-external-'));
  clock = new VirtualClock();
  server = createTestServer({ clock });
  intercept = undefined;
  const memory = memoryTransport(server);
  const send: Transport['send'] = (request) => memory.send(request);
  const transport: Transport = { send: (request) => intercept?.(request, send) ?? send(request), close: async () => undefined };
  const quiet = { clock, transport, random: () => 0.5, heartbeatIntervalMs: 3_600_000, telemetry: false };
  service = new ServiceClient({ ...server.clientOptions, ...quiet });
  rest = service.createRestClient();
  training = await drive(clock, service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2, seed: 1 }));
  ({ path: weights } = await drive(clock, training.saveState('step-1', { userMetadata: { loss: '0.5' } })));
});

afterEach(async () => {
  await service.close();
  await server.close();
  await rm(root, { recursive: true, force: true });
});

const externalCheckpoints = async () =>
  (await drive(clock, rest.listUserCheckpoints().toArray())).filter(({ checkpointType }) => checkpointType === 'external');
const download = (path: string, options: Parameters<RestClient['downloadCheckpoint']>[1] = {}) =>
  drive(clock, rest.downloadCheckpoint(path, { directory: join(root, 'files'), stallTimeoutMs: 86_400_000, ...options }));

describe('saveWeightsExternal', () => {
  it('saves files, whose signed URLs and checkpoint can be read', async () => {
    const { path, sizeBytes } = await drive(clock, training.saveWeightsExternal('final', { ttlSeconds: 3_600 }));
    expect(path).toBe(`tinker://${training.modelId}/external_weights/final`);
    const { urls, expires } = await drive(clock, rest.getExternalWeightsUrls(path));
    expect(Object.keys(urls)).toEqual(FILES);
    expect(expires.getTime()).toBeGreaterThan(clock.wallMs());
    expect(await externalCheckpoints()).toMatchObject([{ tinkerPath: path, sizeBytes, expiresAt: new Date(clock.wallMs() + 3_600_000) }]);
    server.verify();
  });

  it('takes the next turn of the model, also after a refused one', async () => {
    const refused = training.saveWeightsExternal('final', { ageEncryptionRecipients: [] });
    const many = training.saveWeightsExternal('final', { ageEncryptionRecipients: Array.from({ length: 11 }, () => 'age1x') });
    const saved = training.saveWeightsExternal('final');
    await expect(refused).rejects.toThrow(/ageEncryptionRecipients is empty/);
    await expect(many).rejects.toThrow(/ageEncryptionRecipients must be a list of at most 10/);
    await drive(clock, saved);
    expect(server.callsTo('saveWeightsExternal').map(({ request }) => request?.seqId)).toEqual([2]);
  });

  it('is looked up when its answer was lost, and not made twice', async () => {
    server.on('saveWeightsExternal').fault('reset', { moment: 'after' }).once();
    server.on('saveWeightsExternal').reply(409).once();
    expect(await drive(clock, training.saveWeightsExternal('final'))).toEqual({
      path: `tinker://${training.modelId}/external_weights/final`,
      sizeBytes: expect.any(Number),
    });
    expect(await externalCheckpoints()).toHaveLength(1);
  });
});

describe('metadata of checkpoints', () => {
  it('is shown in lists, and replaced as a whole by an overwriting save', async () => {
    await drive(clock, training.saveWeightsForSampler('s', { userMetadata: { for: 'eval' } }));
    const metadata = async () => (await drive(clock, rest.listCheckpoints(training.modelId).toArray())).map((one) => one.userMetadata);
    expect(await metadata()).toEqual([{ loss: '0.5' }, { for: 'eval' }]);
    await drive(clock, training.saveState('step-1', { overwrite: true }));
    expect(await metadata()).toEqual([{ for: 'eval' }, undefined]);
  });

  it('is not part of a request that has none', async () => {
    let body = '';
    intercept = async (request, send) => {
      if (request.url.endsWith('/save_weights')) body = Buffer.from(request.body ?? '').toString();
      return send(request);
    };
    await drive(clock, training.saveState('step-2'));
    expect(Object.keys(JSON.parse(body))).toEqual(['model_id', 'path', 'seq_id', 'overwrite', 'type']);
  });
});

describe('downloadCheckpoint over external weights', () => {
  it('fetches an external checkpoint directly, file by file', async () => {
    const { path, sizeBytes } = await drive(clock, training.saveWeightsExternal('final'));
    const seen: unknown[] = [];
    const result = await download(path, { onProgress: (progress) => seen.push(progress) });
    expect(result).toMatchObject({ fileCount: 2, totalBytes: sizeBytes, receivedBytes: sizeBytes });
    expect((await readdir(result.directory)).sort()).toEqual(FILES);
    expect(seen.at(0)).toMatchObject({ fileName: 'adapter_config.json' });
    expect(seen.at(-1)).toEqual({ receivedBytes: sizeBytes, totalBytes: sizeBytes });
    expect(server.count('createSession')).toBe(1);
    expect(await externalCheckpoints()).toHaveLength(1);
    server.verify();
  });

  it('exports a training checkpoint in a separate session, and deletes the export', async () => {
    const { directory } = await download(weights);
    expect((await readdir(directory)).sort()).toEqual(FILES);
    expect(JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8'))).toMatchObject({ r: 2 });
    expect(server.callsTo('createSession').map(({ request }) => request?.userMetadata)).toEqual([
      {},
      { created_by: 'tinkex downloadCheckpoint' },
    ]);
    expect(server.callsTo('saveWeightsExternal').map(({ request }) => request?.ttlSeconds)).toEqual([3_600]);
    expect(await externalCheckpoints()).toEqual([]);
    expect(server.count('checkpointArchive')).toBe(0);
  });

  it('resumes a file where its connection was killed', async () => {
    const { path } = await drive(clock, training.saveWeightsExternal('final'));
    const ranges: (string | undefined)[] = [];
    intercept = async (request, send) => {
      const response = await send(request);
      if (!isWeightsFile(request.url)) return response;
      ranges.push(request.headers['range']);
      return ranges.length > 2 ? response : cutAfter(response, 1_000);
    };
    const { directory } = await download(path);
    expect(ranges).toEqual([undefined, 'bytes=1000-', 'bytes=2000-']);
    intercept = undefined;
    const whole = await download(path, { directory: join(root, 'again') });
    expect(await readFile(join(directory, FILES[1] as string))).toEqual(await readFile(join(whole.directory, FILES[1] as string)));
  });

  it('signs again before the URLs expire, and keeps the export that long', async () => {
    intercept = async (request, send) => {
      const response = await send(request);
      if (request.url.includes('adapter_config.json')) await clock.advance(11 * 60_000);
      return response;
    };
    await download(weights);
    expect(server.count('setCheckpointTtl')).toBe(2);
    const urlCalls = server.callsTo('externalWeightsUrls').map(({ status }) => status);
    expect(urlCalls).toEqual([400, 200, 200]);
  });

  it('signs again when the URLs have expired in the middle of a file, and resumes it', async () => {
    const { path } = await drive(clock, training.saveWeightsExternal('final'));
    const statuses: number[] = [];
    intercept = async (request, send) => {
      if (!isWeightsFile(request.url)) return send(request);
      if (statuses.length === 1) await clock.advance(16 * 60_000);
      const response = await send(request);
      statuses.push(response.status);
      return statuses.length === 1 ? cutAfter(response, 1_000) : response;
    };
    await download(path);
    expect(statuses).toEqual([200, 403, 206]);
    expect(server.count('externalWeightsUrls')).toBe(2);
  });

  it('leaves nothing behind when it is aborted, neither on disk nor on the server', async () => {
    const controller = new AbortController();
    intercept = (request, send) => {
      if (isWeightsFile(request.url)) controller.abort(new Error('enough'));
      return send(request);
    };
    await expect(download(weights, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(await readdir(root)).toEqual([]);
    expect(server.count('deleteCheckpoint')).toBe(1);
    expect(await externalCheckpoints()).toEqual([]);
  });

  it('deletes the export when the download fails', async () => {
    await expect(download(weights, { maxBytes: 1_000 })).rejects.toThrow(/refused: it is larger/);
    expect(await externalCheckpoints()).toEqual([]);
    expect(await readdir(root)).toEqual([]);
  });

  it.for([
    ['../outside.txt', 'leaves its directory'],
    ['a/../../outside.txt', 'leaves its directory'],
    ['/etc/passwd', 'is absolute'],
    ['C:\\windows.ini', 'is absolute'],
    ['a\\..\\b', 'contains a backslash'],
    ['a\u0000b', 'contains a control character'],
    ['./adapter_config.json', 'leads to the same file'],
    ['.', 'names a directory'],
    ['folder/', 'names a directory'],
  ])('refuses the file name %j before it fetches anything', async ([name = '', why = '']) => {
    const { path } = await drive(clock, training.saveWeightsExternal('final'));
    const { urls, expires } = await drive(clock, rest.getExternalWeightsUrls(path));
    const [url = ''] = Object.values(urls);
    let fetched = 0;
    intercept = (request, send) => {
      if (request.url.includes('/signed/')) fetched += 1;
      return send(request);
    };
    server.on('externalWeightsUrls').reply(200, { urls: { ...urls, [name]: url }, expires });
    const refusal = await download(path).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ValidationError);
    expect((refusal as Error).message).toContain(why);
    expect(fetched).toBe(0);
    expect(await readdir(root)).toEqual([]);
  });

  it('refuses a checkpoint without files, and one whose files contradict each other', async () => {
    const { path } = await drive(clock, training.saveWeightsExternal('final'));
    const { urls, expires } = await drive(clock, rest.getExternalWeightsUrls(path));
    server.on('externalWeightsUrls').reply(200, { urls: {}, expires }).once();
    await expect(download(path)).rejects.toThrow(/it has no files/);
    const [url = ''] = Object.values(urls);
    server
      .on('externalWeightsUrls')
      .reply(200, { urls: { a: url, 'a/b': url }, expires })
      .once();
    await expect(download(path)).rejects.toThrow(/cannot be stored beside the others/);
    await expect(download(path, { maxEntries: 1 })).rejects.toThrow(/more than 1 files/);
    expect(await readdir(root)).toEqual([]);
  });

  it('takes the archive of sampler weights, and says what to do where there is none', async () => {
    const { path } = await drive(clock, training.saveWeightsForSampler('s'));
    expect(await download(path)).toMatchObject({ fileCount: 3 });
    server.on('checkpointArchive').reply(404);
    const missing = await download(path, { directory: join(root, 'again') }).catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(NotFoundError);
    expect((missing as Error).message).toContain('saveWeightsExternal');
  });

  it.each([404, 405])('takes the archive where the new endpoint answers %i, without loading a model', async (status) => {
    server.on('externalWeightsUrls').reply(status);
    expect(await download(weights)).toMatchObject({ fileCount: expect.any(Number) });
    expect([server.count('checkpointArchive'), server.count('createSession')]).toEqual([1, 1]);
  });

  it('exports where the new endpoint does not know the checkpoint and the archive is gone', async () => {
    server.on('externalWeightsUrls').reply(404).once();
    server.on('checkpointArchive').reply(404);
    expect(await download(weights)).toMatchObject({ fileCount: 2 });
  });

  it('fails for a checkpoint that does not exist', async () => {
    await expect(download(`tinker://${training.modelId}/external_weights/none`)).rejects.toBeInstanceOf(NotFoundError);
    await expect(download(`tinker://${training.modelId}/weights/none`)).rejects.toBeInstanceOf(NotFoundError);
    await expect(rest.getExternalWeightsUrls(weights)).rejects.toThrow(/training checkpoint; only external_weights have files/);
  });
});

describe('copyWeights', () => {
  it('makes one copy, however often the answer is lost', async () => {
    const keys = new Set<string | undefined>();
    let attempts = 0;
    intercept = async (request, send) => {
      const response = await send(request);
      if (!request.url.endsWith('/copy_weights')) return response;
      attempts += 1;
      keys.add(request.headers['x-idempotency-key']);
      if (attempts < 15) throw new ConnectionError({ message: 'The answer was lost.' });
      return response;
    };
    const { path } = await drive(clock, rest.copyWeights(weights, { destinationProjectId: 'p1', ttlSeconds: 3_600 }));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)]);
    expect(attempts).toBe(15);
    const runs = await drive(clock, rest.listTrainingRuns({ projectId: 'p1' }).toArray());
    expect(runs.map(({ lastCheckpoint }) => lastCheckpoint?.tinkerPath)).toEqual([path]);
  });

  it('sends the token of another account as a header, not in the body', async () => {
    const other = new ServiceClient({
      ...server.clientOptions,
      apiKey: 'tml-other',
      transport: memoryTransport(server),
      projectId: 'p2',
      clock,
    });
    const options = { weightsAccessToken: server.apiKey };
    const { path } = await drive(clock, other.copyWeights(weights, options));
    expect(path).toMatch(/\/weights\/step-1$/);
    expect(server.callsTo('copyWeights')[0]?.request).toEqual({ sourcePath: weights, destinationProjectId: 'p2' });
    expect(server.callsTo('copyWeights')[0]?.headers).toMatchObject({
      'x-tinker-weights-access-token': expect.not.stringContaining('tml'),
    });
    await other.close();
  });

  it('needs a project and a valid path, before anything is sent', async () => {
    const before = server.calls.length;
    await expect(rest.copyWeights(weights)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(service.copyWeights('weights/step-1')).rejects.toBeInstanceOf(ValidationError);
    expect(server.calls).toHaveLength(before);
  });
});

describe('a checkpoint of a kind that this version does not know', () => {
  it('keeps every list usable, and can be reached', async () => {
    const saved = (await drive(clock, rest.listCheckpoints(training.modelId).toArray()))[0];
    if (saved === undefined) throw new Error('There is no checkpoint.');
    const unknown = {
      ...saved,
      checkpointType: 'merged',
      checkpointId: 'merged/a',
      tinkerPath: `tinker://${training.modelId}/merged/a`,
      time: new Date(clock.wallMs() + 1_000),
    };
    const run = await drive(clock, rest.getTrainingRun(training.modelId));
    const checkpoints = [unknown, saved];
    server.on('listUserCheckpoints').reply(200, { checkpoints, cursor: { offset: 0, limit: 100, totalCount: 2 } });
    server.on('listCheckpoints').reply(200, { checkpoints });
    server
      .on('listTrainingRuns')
      .reply(200, { trainingRuns: [{ ...run, lastCheckpoint: unknown }], cursor: { offset: 0, limit: 20, totalCount: 1 } });
    server.on('getTrainingRun').reply(200, { ...run, lastCheckpoint: unknown });
    const kinds = async (list: PromiseLike<readonly { readonly checkpointType: string }[]>) =>
      (await drive(clock, list)).map(({ checkpointType }) => checkpointType);
    expect(await kinds(rest.listUserCheckpoints().toArray())).toEqual(['merged', 'training']);
    expect(await kinds(rest.listCheckpoints(training.modelId).toArray())).toEqual(['merged', 'training']);
    expect((await drive(clock, rest.listTrainingRuns().toArray()))[0]?.lastCheckpoint?.checkpointType).toBe('merged');
    expect((await drive(clock, rest.getTrainingRun(training.modelId))).lastCheckpoint?.checkpointId).toBe('merged/a');
    const resumed = await drive(clock, service.resume({ trainingRunId: training.modelId }));
    expect(resumed.path).toBe(weights);
    await using monitor = new RecoveryMonitor({ service, records: rest, clock, onEvent: () => undefined });
    monitor.watch(training.modelId);
    expect((await drive(clock, monitor.recover(training.modelId))).modelId).not.toBe(training.modelId);
    server.on('deleteCheckpoint').reply(200, {});
    await drive(clock, rest.deleteCheckpoint(training.modelId, unknown.checkpointId));
    expect(server.callsTo('deleteCheckpoint')[0]?.params).toMatchObject({ checkpoint_id: 'merged/a' });
  });
});

describe('console links', () => {
  it('lead to the session and to the run', async () => {
    const idle = new ServiceClient({ ...server.clientOptions, transport: memoryTransport(server), clock });
    expect(idle.consoleUrl).toBe('https://tinker.thinkingmachines.ai/sessions');
    await idle.close();
    expect(service.consoleUrl).toBe(`https://tinker.thinkingmachines.ai/sessions/${await service.sessionId()}`);
    expect(training.consoleUrl).toBe(`https://tinker.thinkingmachines.ai/training_runs/${training.modelId}`);
  });
});

/** The response, whose connection breaks after some bytes. */
function cutAfter(response: TransportResponse, byteCount: number): TransportResponse {
  const body = {
    ...response.body,
    async *[Symbol.asyncIterator]() {
      const bytes = await response.body.bytes();
      yield bytes.subarray(0, byteCount);
      throw new ConnectionError({ message: 'The connection was killed.' });
    },
  };
  return { ...response, body } as TransportResponse;
}
