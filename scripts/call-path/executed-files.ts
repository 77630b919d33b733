import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../packages.mjs';

/** A file of the workspace of which at least one named function ran. */
export interface ExecutedFile {
  /** Relative to the root. */
  readonly file: string;
  readonly functions: number;
}

/** Runs the work under V8's precise coverage. What ran before does not count, so warm up first. */
export async function executedFiles(work: () => Promise<unknown>): Promise<ExecutedFile[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');
    return result
      .filter(({ url }) => url.startsWith('file://') && /\/packages\/[^/]+\/src\//.test(url))
      .map(({ url, functions }) => ({
        file: relative(root, fileURLToPath(url.replace(/\?.*$/, ''))),
        functions: functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0).length,
      }))
      .filter(({ functions }) => functions > 0)
      .sort((a, b) => a.file.localeCompare(b.file));
  } finally {
    session.disconnect();
  }
}
