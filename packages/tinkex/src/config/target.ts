import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { ConnectionOptions } from '@tinkex/clients';
import type { CommandContext } from '../commands/command-context.js';
import { wrongUsage } from '../output/command-failure.js';
import { credentialsPath, readCredentials } from './credentials-file.js';
import { engineFolder, findProject } from './project.js';

/** The model to start with on the embedded engine: it reads its whole prompt, so that each question gets its own answer. */
export const EMBEDDED_MODEL = 'tinkex/small';

/** The server that a command works with. */
export interface Target extends AsyncDisposable {
  /** How to reach it. Unset values come from the environment and the stored credentials. */
  readonly connection: Pick<ConnectionOptions, 'baseUrl' | 'apiKey'>;
  /** Whether it is the engine in this process. */
  readonly isEmbedded: boolean;
}

/** Options of {@link openTarget}. */
export interface TargetOptions {
  /** The server of the project's configuration. */
  readonly baseUrl?: string | undefined;
  /** Whether the embedded engine is used although it has no state yet. Default false. */
  readonly mayCreate?: boolean | undefined;
}

/**
 * Opens the server: that of a flag, of the environment or of the project, in this order; without one, the hosted service if there is a credential; without
 * a credential the embedded engine, whose state is in the project.
 */
export async function openTarget(context: CommandContext, { baseUrl, mayCreate = false }: TargetOptions = {}): Promise<Target> {
  const { globals, environment } = context;
  if (globals.local === true && globals.baseUrl !== undefined) throw wrongUsage('Set either --local or --base-url');
  const url = globals.baseUrl ?? environment.baseUrl ?? baseUrl;
  const isElsewhere = url !== undefined || (await hasCredential(context));
  const folder = engineFolder(findProject(process.cwd()));
  const isEmbedded = globals.local === true || (!isElsewhere && (mayCreate || existsSync(folder)));
  if (isEmbedded) return await openEngine(folder);
  return { connection: { baseUrl: url }, isEmbedded: false, [Symbol.asyncDispose]: async () => undefined };
}

async function hasCredential({ environment }: CommandContext): Promise<boolean> {
  if ((environment.apiKey ?? environment.credentialCommand) !== undefined) return true;
  if (environment.home === undefined) return false;
  return (await readCredentials(credentialsPath(environment.home))).default !== undefined;
}

/** The engine that learns, in this process. Its state folder admits one process at a time. */
async function openEngine(folder: string): Promise<Target> {
  const { startServer } = await import('@tinkex/testkit');
  await mkdir(folder, { recursive: true });
  // Nothing reads the recording, and fields of newer clients are not an error.
  const server = await startServer({ stateDir: folder, baseModels: [EMBEDDED_MODEL], recorderLimit: 0, strict: false });
  return { connection: server.clientOptions, isEmbedded: true, [Symbol.asyncDispose]: () => server.close() };
}
