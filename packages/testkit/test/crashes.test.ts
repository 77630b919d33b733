import { cp, mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer } from '../src/index.js';
import { brokenPromises, DurableLife, referenceLosses } from './durable-life.js';
import { RawClient } from './raw-client.js';

/** The folder as the end of a process at this moment leaves it. */
async function crashImage(dir: string, into: string): Promise<string> {
  const image = await mkdtemp(join(into, 'image-'));
  await cp(dir, image, { recursive: true, filter: (source) => !source.endsWith('/lock') });
  return image;
}

describe('a server that ends without notice', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'testkit-crash-'));
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it.each(['strict', 'relaxed'] as const)('has lost nothing that it acknowledged (%s)', async (durability) => {
    const reference = await referenceLosses();
    const stateDir = join(root, 'state');
    await using server = await startServer({ dialect: 'json', stateDir, durability });
    const client = new RawClient(server);
    const life = new DurableLife(client);
    await life.begin();
    for (let turn = 0; turn < 8; turn++) {
      await life.act(turn);
      const image = await crashImage(stateDir, root);
      await using restarted = await startServer({ dialect: 'json', stateDir: image, durability });
      const witness = new RawClient(restarted);
      expect(await brokenPromises(witness, life.acknowledged, reference), `after turn ${turn}`).toEqual([]);
      await witness.close();
    }
    await client.close();
  });

  it('starts from a journal that was cut off anywhere, or ends in zeros, at a state that it once had', async () => {
    const stateDir = join(root, 'state');
    await using server = await startServer({ dialect: 'json', stateDir });
    const client = new RawClient(server);
    const life = new DurableLife(client);
    await life.begin();
    for (let turn = 0; turn < 8; turn++) await life.act(turn);
    await client.close();
    const [journal = ''] = (await readdir(stateDir)).filter((name) => name.startsWith('journal-'));
    const { size } = await stat(join(stateDir, journal));
    for (let cut = 0; cut < 7; cut++) {
      const kept = Math.min(size, Math.floor((size * (2 * cut + 1)) / 12));
      const image = await crashImage(stateDir, root);
      await truncate(join(image, journal), kept);
      // A file system may have made the file longer before the power failed, and not have written its end.
      if (cut % 2 === 0) await truncate(join(image, journal), kept + 5_000);
      await using restarted = await startServer({ dialect: 'json', stateDir: image });
      const witness = new RawClient(restarted);
      const { checkpoints } = (await witness.get('checkpoints')).json;
      const known = [...life.acknowledged.checkpoints.keys()];
      expect(checkpoints.map((one: { tinker_path: string }) => one.tinker_path)).toEqual(known.slice(0, checkpoints.length).reverse());
      await witness.close();
    }
  });
});
