import { packTar } from 'modern-tar';
import type { CheckpointFiles } from '../engine/engine.js';

const BLOCK = 512;

/** The files as a tar archive. The same files and time give the same bytes. */
export async function tarOf(files: CheckpointFiles, modifiedMs: number): Promise<Uint8Array> {
  const mtime = new Date(modifiedMs - (modifiedMs % 1000));
  const entries = [...files].map(([name, body]) => ({ header: { name, size: body.length, mtime, mode: 0o644 }, body }));
  const archive = await packTar(entries);
  // An archive ends in two empty blocks; some readers insist.
  return archive.length >= 2 * BLOCK ? archive : new Uint8Array(2 * BLOCK);
}
