import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const OWN_FOLDER = ownFolder(import.meta.url);

/** Where the caller of this package stands, as `file:line:column`; undefined when the stack does not say, as in an application's bundle. */
export function callSite(): string | undefined {
  if (OWN_FOLDER === undefined) return undefined;
  const { stack = '' } = new Error('call site');
  for (const line of stack.split('\n').slice(1)) {
    const [, place] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line.trim()) ?? [];
    if (place === undefined) continue;
    const path = place.startsWith('file://') ? decodeURI(place.slice('file://'.length)) : place;
    if (!isOwnFile(path, OWN_FOLDER)) return path;
  }
  return undefined;
}

/** Whether a file is part of this package. A stack names the sources where the runtime applies source maps, and the build elsewhere. */
export function isOwnFile(path: string, folder: string): boolean {
  const [first] = path.startsWith(folder) ? path.slice(folder.length).split(/[\\/]/, 1) : [];
  return first === 'src' || first === 'dist';
}

/**
 * The folder of this package, with a separator at its end.
 *
 * @param url - Of this file; an application's bundle in CommonJS has none.
 */
function ownFolder(url: string | undefined): string | undefined {
  return url === undefined ? undefined : /^(.*[\\/])(?:src|dist)(?:[\\/]|$)/.exec(dirname(fileURLToPath(url)))?.[1];
}
