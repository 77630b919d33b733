import { chmod, mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { checkpointTypeOf, dateOf } from '../src/commands/arguments.js';
import { addKey, type Credentials, deleteKey, NO_CREDENTIALS, setDefaultKey, writeCredentials } from '../src/config/credentials-file.js';
import { downloadFolderName, requireDownloadable } from '../src/output/download-folder.js';
import { formatSize } from '../src/output/format-size.js';
import { formatTime } from '../src/output/format-time.js';
import { temporaryFolder } from './run-command.js';

interface Formatting {
  readonly bytes?: number;
  readonly seconds_from_now?: number;
  readonly now?: string;
  readonly value?: string | null;
}

it.each(readVectors<Formatting, string>('cli-formatting'))('formats $name', ({ input, expected }) => {
  const now = new Date(input.now ?? 0);
  if (input.bytes !== undefined) expect(formatSize(input.bytes)).toBe(expected);
  else if (input.seconds_from_now === undefined) expect(formatTime(input.value, now)).toBe(expected);
  else expect(formatTime(new Date(now.getTime() + input.seconds_from_now * 1000), now)).toBe(expected);
});

type Answer = string | { readonly ok: boolean; readonly utc?: string; readonly type?: string };

const FUNCTIONS: Readonly<Record<string, (value: string) => unknown>> = {
  parse_date: (value) => ({ ok: true, utc: dateOf(value).toISOString().replace('.000Z', 'Z') }),
  download_directory: downloadFolderName,
  downloadable_path: async (value) => ({ ok: true, type: await requireDownloadable(value) }),
  checkpoint_type_option: checkpointTypeOf,
};

it.each(
  readVectors<{ function: string; value: string }, Answer>('cli-helpers').filter(({ input }) => Object.hasOwn(FUNCTIONS, input.function)),
)('computes $name', async ({ input, expected }) => {
  const compute = async (): Promise<unknown> => FUNCTIONS[input.function]!(input.value);
  if (typeof expected === 'object' && !expected.ok) await expect(compute()).rejects.toThrow();
  else expect(await compute()).toEqual(expected);
});

interface FileCase {
  readonly operation: string;
  readonly before?: Credentials | null;
}

const KEY_A = {
  type: 'manual',
  key: 'tml-a',
  name: 'n',
  note: '',
  details: { org_details: { name: 'O' }, user_details: { email: 'a@b' } },
} as const;
const OPERATIONS: Readonly<Record<string, (before: Credentials) => Credentials>> = {
  add: (before) => addKey(before, '5', KEY_A),
  'set-default': (before) => setDefaultKey(before, '5'),
  'add-second': (before) => addKey(before, '6', { type: 'manual', key: 'tml-b', name: 'm' }),
  'set-default-unknown': (before) => setDefaultKey(before, '7'),
  'delete-not-the-default': (before) => deleteKey(before, '6'),
  'delete-unknown': (before) => deleteKey(before, '7'),
  'delete-the-default': (before) => deleteKey(before, '5'),
};

it.each(
  readVectors<FileCase, { after?: Credentials; error?: string }>('credentials-file').filter(({ expected }) => !('file_mode' in expected)),
)('changes the credentials: $name', ({ input, expected }) => {
  const change = (): Credentials => OPERATIONS[input.operation]!(input.before ?? NO_CREDENTIALS);
  if (expected.after === undefined) expect(change).toThrow(/No key 7/);
  else expect(JSON.stringify(change())).toBe(JSON.stringify(expected.after));
});

it('keeps the credentials from other users, also in a folder that was open', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, '.tinker', 'credentials.json');
  await mkdir(join(folder.path, '.tinker'));
  await chmod(join(folder.path, '.tinker'), 0o755);
  await writeCredentials(path, addKey(NO_CREDENTIALS, '5', KEY_A));
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(addKey(NO_CREDENTIALS, '5', KEY_A));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder.path, '.tinker'))).mode & 0o777).toBe(0o700);
});
