import { ConfigurationError } from '@tinkex/types';

/** The built-in modules of Node that the SDK uses. */
export interface NodeModules {
  readonly 'node:child_process': typeof import('node:child_process');
  readonly 'node:crypto': typeof import('node:crypto');
  readonly 'node:diagnostics_channel': typeof import('node:diagnostics_channel');
  readonly 'node:dns': typeof import('node:dns');
  readonly 'node:fs': typeof import('node:fs');
  readonly 'node:fs/promises': typeof import('node:fs/promises');
  readonly 'node:module': typeof import('node:module');
  readonly 'node:net': typeof import('node:net');
  readonly 'node:os': typeof import('node:os');
  readonly 'node:path': typeof import('node:path');
  readonly 'node:stream': typeof import('node:stream');
  readonly 'node:timers': typeof import('node:timers');
  readonly 'node:url': typeof import('node:url');
  readonly 'node:zlib': typeof import('node:zlib');
}

/**
 * A built-in module of Node, or `undefined` in a runtime without it, such as an edge worker. Unlike an `import`, it is invisible to bundlers, so that one
 * build serves all runtimes, and it costs nothing before it is called.
 */
export function findNodeModule<Id extends keyof NodeModules>(id: Id): NodeModules[Id] | undefined {
  return (globalThis as { process?: NodeJS.Process }).process?.getBuiltinModule?.(id) as NodeModules[Id] | undefined;
}

/**
 * The same for what cannot work without it.
 *
 * @param purpose - What needs the module, as the subject of a sentence: `Downloading a checkpoint`.
 * @throws ConfigurationError in a runtime without it.
 */
export function nodeModule<Id extends keyof NodeModules>(id: Id, purpose: string): NodeModules[Id] {
  const found = findNodeModule(id);
  if (found !== undefined) return found;
  throw new ConfigurationError({ message: `${purpose} needs ${id}, which this runtime does not have. Use Node, Bun or Deno for it.` });
}
