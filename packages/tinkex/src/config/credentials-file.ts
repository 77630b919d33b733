import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandFailure } from '../output/command-failure.js';

/** A stored key, in the fields of the file. */
export interface StoredKey {
  /** `generated` keys were created by a command and are revoked at logout; `manual` ones stay valid. */
  readonly type: 'manual' | 'generated';
  readonly key: string;
  readonly name: string;
  readonly note?: string | undefined;
  readonly details?: { readonly org_details: { readonly name: string }; readonly user_details: { readonly email: string } } | undefined;
}

/** The content of `~/.tinker/credentials.json`, which the reference command shares. */
export interface Credentials {
  readonly version: 1;
  readonly default?: string | undefined;
  readonly keys: Readonly<Record<string, StoredKey>>;
}

/** No keys. */
export const NO_CREDENTIALS: Credentials = { version: 1, keys: {} };

/** Adds a key under its ID, or replaces it. */
export function addKey(credentials: Credentials, id: string, key: StoredKey): Credentials {
  return { ...credentials, keys: { ...credentials.keys, [id]: key } };
}

/** Makes a stored key the default. Throws for a key that is not stored. */
export function setDefaultKey({ version, keys }: Credentials, id: string): Credentials {
  if (!Object.hasOwn(keys, id)) throw new CommandFailure(`No key ${id} is stored`, { code: 'NO_STORED_KEY' });
  return { version, default: id, keys };
}

/** Removes a key; without its default the file has none. Throws for a key that is not stored. */
export function deleteKey({ version, default: defaultId, keys }: Credentials, id: string): Credentials {
  if (!Object.hasOwn(keys, id)) throw new CommandFailure(`No key ${id} is stored`, { code: 'NO_STORED_KEY' });
  const { [id]: _, ...rest } = keys;
  return defaultId === undefined || defaultId === id ? { version, keys: rest } : { version, default: defaultId, keys: rest };
}

/** Where the file is. Throws without a home folder. */
export function credentialsPath(home: string | undefined): string {
  if (home === undefined) throw new CommandFailure('There is no home folder to store a key in', { cure: 'Set HOME, or TINKER_API_KEY.' });
  return join(home, '.tinker', 'credentials.json');
}

/** Reads the file. Without one there are no credentials. */
export async function readCredentials(path: string): Promise<Credentials> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NO_CREDENTIALS;
    throw error;
  }
  // Checks the content; its messages show nothing of it.
  const { readStoredKey } = await import('@tinkex/http');
  readStoredKey(text);
  return { ...NO_CREDENTIALS, ...(JSON.parse(text) as Partial<Credentials>) };
}

/** Writes the file so that only its owner can read it. A reader sees the old file or the new one, never a part. */
export async function writeCredentials(path: string, credentials: Credentials): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}
