import { fileSystem, paths } from '../node-files.js';

/**
 * Removes everything from a directory that is not one of the files: what an interrupted download has fetched of an older list must not
 * be published with the current one. Links are removed, never followed.
 */
export async function removeStrays(directory: string, files: readonly (readonly string[])[]): Promise<void> {
  const kept = new Set(files.map((segments) => segments.join('/')));
  const parents = new Set(files.flatMap((segments) => segments.map((_, length) => segments.slice(0, length).join('/'))));
  const visit = async (segments: readonly string[]): Promise<void> => {
    for (const entry of await fileSystem().readdir(paths().join(directory, ...segments), { withFileTypes: true })) {
      const inner = [...segments, entry.name];
      const name = inner.join('/');
      if (entry.isDirectory() && parents.has(name)) await visit(inner);
      else if (!entry.isFile() || !kept.has(name)) {
        await fileSystem().rm(paths().join(directory, ...inner), { recursive: true, force: true, maxRetries: 3 });
      }
    }
  };
  await visit([]);
}
