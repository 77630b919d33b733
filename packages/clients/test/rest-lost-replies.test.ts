import type { RestClient } from '@tinkex/clients';
import type { Middleware } from '@tinkex/http';
import { ConflictError, NotFoundError } from '@tinkex/types';
import { beforeEach, describe, expect, it } from 'vitest';
import { cannedRig } from './support/canned-rig.js';
import { drive } from './support/drive.js';

const rig = cannedRig();
let rest: RestClient;
let path: string;

/** A separate key for each attempt: to the server each is a new call, as to servers that keep no keys. */
const withoutMemory: Middleware = (request, next) =>
  next({ ...request, headers: { ...request.headers, 'x-idempotency-key': `key-${rig.server.calls.length}` } });

beforeEach(async () => {
  const service = rig.connect({ middleware: [withoutMemory] });
  rest = service.createRestClient();
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 1 });
  ({ path } = await training.saveState('step-1'));
});

const checkpoint = async () => (await rest.listUserCheckpoints().toArray()).find(({ tinkerPath }) => tinkerPath === path);

describe('a change whose reply is lost', () => {
  it.each(['reset', 'close', 'reset-headers'] as const)(
    'deletes once and succeeds, although the retry finds nothing (%s)',
    async (kind) => {
      rig.server.on('deleteCheckpoint').fault(kind, { moment: 'after' }).once();
      await drive(rig.clock, rest.deleteCheckpointFromTinkerPath(path));
      expect(rig.server.callsTo('deleteCheckpoint').at(-1)).toMatchObject({ status: 404 });
      expect(rig.server.count('deleteCheckpoint')).toBe(2);
      expect(await checkpoint()).toBeUndefined();
      rig.server.verify();
    },
  );

  it('is one success when the retry layers take several rounds', async () => {
    rig.server.on('deleteCheckpoint').fault('reset', { moment: 'after' }).once();
    rig.server.on('deleteCheckpoint').reply(503).times(15);
    await drive(rig.clock, rest.deleteCheckpointFromTinkerPath(path));
    expect(rig.server.count('deleteCheckpoint')).toBe(17);
    expect(await checkpoint()).toBeUndefined();
  });

  it('publishes and unpublishes once: the conflict of the retry ends the call without another try', async () => {
    rig.server.on('publishCheckpoint').fault('reset', { moment: 'after' }).once();
    await drive(rig.clock, rest.publishCheckpointFromTinkerPath(path));
    expect(rig.server.count('publishCheckpoint')).toBe(2);
    expect(await checkpoint()).toMatchObject({ public: true });
    rig.server.on('unpublishCheckpoint').fault('reset', { moment: 'after' }).once();
    await drive(rig.clock, rest.unpublishCheckpointFromTinkerPath(path));
    expect(rig.server.count('unpublishCheckpoint')).toBe(2);
    expect(await checkpoint()).toMatchObject({ public: false });
    rig.server.verify();
  });

  it('happens through the retry when the request itself was lost', async () => {
    rig.server.on('deleteCheckpoint').fault('reset', { moment: 'before' }).once();
    await drive(rig.clock, rest.deleteCheckpointFromTinkerPath(path));
    expect(await checkpoint()).toBeUndefined();
    expect(rig.server.callsTo('deleteCheckpoint').at(-1)).toMatchObject({ status: 200 });
  });
});

describe('the same answer without a lost reply', () => {
  it('is NotFoundError on the first attempt', async () => {
    await rest.deleteCheckpointFromTinkerPath(path);
    await expect(rest.deleteCheckpointFromTinkerPath(path)).rejects.toBeInstanceOf(NotFoundError);
    await expect(rest.unpublishCheckpointFromTinkerPath(path)).rejects.toBeInstanceOf(NotFoundError);
    expect(rig.server.count('deleteCheckpoint')).toBe(2);
  });

  it('is NotFoundError after an attempt that was refused, which leaves no doubt', async () => {
    await rest.deleteCheckpointFromTinkerPath(path);
    rig.server.on('deleteCheckpoint').reply(429, { retryAfterMs: 10 }).once();
    await expect(drive(rig.clock, rest.deleteCheckpointFromTinkerPath(path))).rejects.toBeInstanceOf(NotFoundError);
    expect(rig.server.count('deleteCheckpoint')).toBe(3);
  });

  it('is NotFoundError of a lost reply in another call: doubt belongs to one call', async () => {
    rig.server.on('deleteCheckpoint').fault('reset', { moment: 'after' }).once();
    await drive(rig.clock, rest.deleteCheckpointFromTinkerPath(path));
    await expect(rest.deleteCheckpointFromTinkerPath(path)).rejects.toBeInstanceOf(NotFoundError);
  });

  it('a conflict is tried again by the rules of the protocol and then surfaces', async () => {
    await expect(drive(rig.clock, rest.unpublishCheckpointFromTinkerPath(path))).rejects.toBeInstanceOf(ConflictError);
    expect(rig.server.count('unpublishCheckpoint')).toBeGreaterThan(10);
  });
});
