import { ConfigurationError } from '@tinkex/types';
import { isPlainObject } from '@tinkex/types/wire';

const KEY_KINDS: readonly unknown[] = ['manual', 'generated'];

/**
 * The default key of a credentials file, `~/.tinker/credentials.json`, as `tinker auth login` writes it. Fields that this version does not
 * know are ignored.
 *
 * @param text - The content of the file.
 * @returns `undefined` when the file names no default key, or one that it does not hold.
 * @throws ConfigurationError when the file is not one of version 1. The message shows nothing of its content.
 */
export function readStoredKey(text: string): string | undefined {
  const { version = 1, default: defaultId, keys = {} } = parseObject(text);
  if (version !== 1) throw unreadable(`has version ${JSON.stringify(version)}; this SDK reads version 1`);
  if (defaultId !== undefined && defaultId !== null && typeof defaultId !== 'string') throw unreadable('has a default that is not text');
  if (!isPlainObject(keys)) throw unreadable('has keys that are not an object');
  const stored = new Map(Object.entries(keys).map(([id, record]) => [id, keyOf(record, id)]));
  return typeof defaultId === 'string' ? stored.get(defaultId) : undefined;
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's error quotes what it read, which may be a key.
    throw unreadable('is not JSON');
  }
  if (isPlainObject(value)) return value as Record<string, unknown>;
  throw unreadable('is not a JSON object');
}

function keyOf(record: unknown, id: string): string {
  const { type, key, name } = (isPlainObject(record) ? record : {}) as Readonly<Record<string, unknown>>;
  if (!KEY_KINDS.includes(type)) throw unreadable(`has an unknown kind of key at ${JSON.stringify(id)}`);
  if (typeof key !== 'string' || typeof name !== 'string') throw unreadable(`has an incomplete key at ${JSON.stringify(id)}`);
  return key;
}

function unreadable(problem: string): ConfigurationError {
  const cure = 'Repair or delete it, or pass apiKey, or set TINKER_API_KEY.';
  return new ConfigurationError({ message: `The credentials file (~/.tinker/credentials.json) ${problem}. ${cure}`, option: 'apiKey' });
}
