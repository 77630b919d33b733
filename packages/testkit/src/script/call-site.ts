import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The sources of this package, or its build: the folder above this file's, whatever a bundler did to it. */
const OWN_FOLDER = /^(.*?[\\/](?:src|dist))(?:[\\/]|$)/.exec(dirname(fileURLToPath(import.meta.url)))?.[1];

/** Where the caller of this package stands, as `file:line:column`; undefined when the stack does not say. */
export function callSite(): string | undefined {
  const { stack = '' } = new Error('call site');
  for (const line of stack.split('\n').slice(1)) {
    const [, place] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line.trim()) ?? [];
    if (place === undefined) continue;
    const path = place.startsWith('file://') ? place.replace(/^file:\/\//, '') : place;
    if (OWN_FOLDER === undefined || !path.startsWith(OWN_FOLDER)) return path;
  }
  return undefined;
}
