import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, commandOrThrow } from '../gates/command.js';
import type { Picture } from './compare.js';

/** Why no wheel is available here. Not a failure of what is compared. */
export class NoWheel extends Error {
  override readonly name = 'NoWheel';
}

/** A version of the reference and its picture. */
export interface DrawnVersion {
  readonly version: string;
  readonly picture: Picture;
}

/**
 * Downloads one version of the reference from PyPI, without installing it, and draws its picture.
 *
 * @param wanted - A version, or `newest`.
 * @throws {@link NoWheel} without Python, or when the version cannot be downloaded.
 */
export async function drawVersion(picturePy: string, wanted: string): Promise<DrawnVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'tinkex-drift-'));
  try {
    const requirement = wanted === 'newest' ? 'tinker' : `tinker==${wanted}`;
    const args = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--dest', folder, requirement];
    const download = await command('python3', args).catch(() => undefined);
    if (download === undefined) throw new NoWheel('there is no python3 on this machine');
    const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new NoWheel(`pip cannot download ${requirement}: ${download.output.trim().split('\n').at(-1)}`);
    const { stdout } = await commandOrThrow('python3', [picturePy, join(folder, wheel)]);
    return { version: wheel.split('-')[1] ?? wanted, picture: JSON.parse(stdout) as Picture };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
