import type { CheckpointFiles } from '../engine/engine.js';

/** The files as a tar archive. The same files and time give the same bytes. The library is loaded when it is first needed. */
export async function tarOf(files: CheckpointFiles, modifiedMs: number): Promise<Uint8Array> {
  const { packTar } = await import('modern-tar');
  const mtime = new Date(modifiedMs - (modifiedMs % 1000));
  return packTar([...files].map(([name, body]) => ({ header: { name, size: body.length, mtime, mode: 0o644 }, body })));
}
