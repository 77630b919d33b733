import { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { jsonMessage } from './raw-server.js';
import { type Attack, datums, isFull, isTo, type Rig, randomOf, SEED, startRig, tinkexFailure, valueOrTinkexError } from './rig.js';

const LIMIT = { timeout: isFull ? 900_000 : 120_000 };
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const JUMPS = [-YEAR_MS, -HOUR_MS, HOUR_MS, YEAR_MS];
const prompt = ModelInput.fromInts([5]);
const samplingParams = { maxTokens: 2 };

const firstToken = async (rig: Rig): Promise<number | undefined> => {
  const client = await rig.service.createSamplingClient({ baseModel: 'base', retry: true });
  return (await client.sample({ prompt, samplingParams })).sequences[0]?.tokens[0];
};

/** Strikes the first `times` requests, then answers honestly; every answer sets the wall clock. */
function whileTheClockJumps(jumpMs: number, name: string, times: number, strike: Attack): Promise<Rig> {
  const rig: Promise<Rig> = startRig((request, wire, honest) => {
    if (!isTo(request, name)) return false;
    void rig.then(({ clock }) => {
      clock.wallOffsetMs += jumpMs;
    });
    return request.nth < times && strike(request, wire, honest);
  });
  return rig;
}

describe(`time (seed ${SEED})`, LIMIT, () => {
  describe.each(JUMPS)('when the wall clock is set by %d ms at every answer', (jumpMs) => {
    it.each([
      ['a poll that is not ready', 'retrieve_future', jsonMessage({ type: 'try_again' }), 6 * 1_000],
      ['a 429 with its own delay', 'asample', jsonMessage({ detail: 'slow' }, 429, { 'retry-after-ms': '700' }), 3 * 1_500],
      ['a 503', 'asample', jsonMessage({ detail: 'busy' }, 503), 3 * 15_000],
    ])('the client waits after %s as long as without', async (_name, route, message, mostMs) => {
      await using rig = await whileTheClockJumps(jumpMs, route, 3, (_request, wire) => wire.send(message));
      const before = rig.clock.skippedMs;
      expect(await firstToken(rig)).toBe(6);
      expect(rig.clock.skippedMs - before).toBeLessThan(mostMs);
    });

    it('a lost connection is repeated, and training continues', async () => {
      await using rig = await whileTheClockJumps(jumpMs, 'forward_backward', 3, (_request, wire) => wire.reset());
      const client = await rig.service.createLoraTrainingClient({ baseModel: 'base' });
      await Promise.all([client.forwardBackward(datums(1), 'cross_entropy'), client.optimStep()]);
      expect(rig.honest.accepted.get('S:train:0')).toEqual([1, 2]);
      expect(rig.clock.skippedMs).toBeLessThan(120_000);
    });

    it('a silent server ends at the deadline, neither before nor never', async () => {
      await using rig = await startRig((request) => isTo(request, 'get_server_capabilities'), { maxRetries: 0, maxRetryMs: 0 });
      const before = rig.clock.skippedMs;
      const work = tinkexFailure(rig.service.getServerCapabilities());
      rig.clock.wallOffsetMs += jumpMs;
      expect((await work).code).toBe('TINKEX_TIMEOUT');
      const waitedMs = rig.clock.skippedMs - before;
      expect(waitedMs).toBeGreaterThan(50_000);
      expect(waitedMs).toBeLessThan(70_000);
    });
  });

  it.each([
    '1e308',
    '-1',
    'NaN',
    '99999999999999999999',
    'Fri, 31 Dec 9999 23:59:59 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    '1'.repeat(15_000),
    '0x10',
    '',
  ])('a Retry-After of %s delays a call by a minute at most', async (value) => {
    await using rig = await startRig(
      (request, wire) =>
        isTo(request, 'asample') &&
        request.nth < 2 &&
        wire.send(jsonMessage({ detail: 'slow' }, 429, { 'retry-after': value, 'retry-after-ms': value })),
    );
    expect(await firstToken(rig)).toBe(6);
    expect(rig.clock.skippedMs).toBeLessThan(130_000);
  });

  it.each(['1e300', '-5', '0', '"soon"', 'null', '1'])('a token that expires at %s is not exchanged in a loop', async (exp) => {
    const part = (text: string): string => Buffer.from(text).toString('base64url');
    const jwt = `${part('{"alg":"none"}')}.${part(`{"exp":${exp},"org_id":"o"}`)}.x`;
    await using rig = await startRig(
      (request, wire) => isTo(request, 'auth/token') && wire.send(jsonMessage({ jwt })),
      { maxRetries: 2, maxRetryMs: 5_000 },
      { pjwt_auth_enabled: true },
    );
    await valueOrTinkexError(firstToken(rig));
    const exchanges = rig.server.to('auth/token').length;
    expect(exchanges).toBeGreaterThan(0);
    expect(exchanges).toBeLessThan(10);
  });

  it('dates that make no sense are errors or dates, and nothing hangs', async () => {
    const random = randomOf('dates');
    const dates = [
      '0000-00-00T00:00:00Z',
      '99999-01-01T00:00:00Z',
      '2026-02-30T25:61:61Z',
      '1e308',
      '-1',
      'now',
      '2026-11-19T00:00:00+99:99',
      ' ',
    ];
    for (let round = 0; round < 8; round += 1) dates.push(`${Math.floor(random() * 1e6)}-${Math.floor(random() * 99)}-01T00:00:00Z`);
    for (const time of dates) {
      await using rig = await startRig(
        (request, wire) =>
          isTo(request, 'checkpoints') &&
          wire.send(
            jsonMessage({
              checkpoints: [{ checkpoint_id: 'weights/1', checkpoint_type: 'training', time, tinker_path: 'tinker://r/weights/1' }],
            }),
          ),
        { maxRetries: 0, maxRetryMs: 0 },
      );
      await valueOrTinkexError(rig.service.createRestClient().listUserCheckpoints({ limit: 1 }));
    }
  });
});
