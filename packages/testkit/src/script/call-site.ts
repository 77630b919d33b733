import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The sources of this package, or its build. */
const OWN_FOLDER = ownFolder(import.meta.url);

/** Where the caller of this package stands, as `file:line:column`; undefined when the stack does not say, as in an application's bundle. */
export function callSite(): string | undefined {
  if (OWN_FOLDER === undefined) return undefined;
  const { stack = '' } = new Error('call site');
  for (const line of stack.split('\n').slice(1)) {
    const [, place] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line.trim()) ?? [];
    if (place === undefined) continue;
    const path = place.startsWith('file://') ? place.replace(/^file:\/\//, '') : place;
    if (!path.startsWith(OWN_FOLDER)) return path;
  }
  return undefined;
}

/** @param url - Of this file; a bundle in CommonJS has none. */
function ownFolder(url: string | undefined): string | undefined {
  return url === undefined ? undefined : /^(.*?[\\/](?:src|dist))(?:[\\/]|$)/.exec(dirname(fileURLToPath(url)))?.[1];
}
