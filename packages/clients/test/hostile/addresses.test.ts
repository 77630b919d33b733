import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectionError } from '@tinkex/types';
import { expect, it } from 'vitest';
import { HastyClock } from './hasty-clock.js';
import { encodeMessage, RawServer } from './raw-server.js';
import { startRig, tinkexFailure } from './rig.js';
import { tar } from './tar-bytes.js';

/** Each leads to this machine. */
const ADDRESSES: Readonly<Record<string, (port: number) => string>> = {
  'an address': (port) => `http://127.0.0.1:${port}/blob`,
  'an address written otherwise': (port) => `http://0x7f.1:${port}/blob`,
  'an IPv4 address inside IPv6': (port) => `http://[::ffff:127.0.0.1]:${port}/blob`,
  'a name': (port) => `http://localhost:${port}/blob`,
};

it.each(Object.entries(ADDRESSES))(
  'a download address inside the network is fetched only if the user allows it (%s)',
  async (_, addressOf) => {
    let fetched = 0;
    await using inside = await RawServer.start((_request, wire) => {
      fetched += 1;
      void wire.write(encodeMessage({ body: tar([{ name: 'a', content: 'x' }]) }));
    });
    const root = await mkdtemp(join(tmpdir(), 'hostile-'));
    try {
      for (const allowPrivateAddresses of [false, true]) {
        await using rig = await startRig(
          ({ path }, wire) => path.endsWith('/archive') && wire.send({ status: 302, headers: { location: addressOf(inside.port) } }),
          { clock: new HastyClock(() => 0, 9_000), maxRetries: 0, downloads: { allowPrivateAddresses } },
        );
        const download = rig.service
          .createRestClient()
          .downloadCheckpoint('tinker://r/sampler_weights/1', { directory: join(root, 'target') });
        if (allowPrivateAddresses) await download;
        else expect(await tinkexFailure(download)).toMatchObject({ code: ConnectionError.code, isRetryable: false });
        expect(fetched).toBe(allowPrivateAddresses ? 1 : 0);
        expect(await readdir(root)).toEqual(allowPrivateAddresses ? ['target'] : []);
      }
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
);
