import { addKey, credentialsPath, readCredentials, setDefaultKey, writeCredentials } from '../config/credentials-file.js';
import { describeKey } from '../config/own-key.js';
import { CommandFailure } from '../output/command-failure.js';
import { showJson } from '../output/show-result.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

const MAX_KEY_LENGTH = 16_384;

/** `tinkex auth login` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('login')
    .description('Store an API key. The reference command `tinker` finds it too.')
    .addHelpText('after', examples(['auth login', 'asks for the key'], ['auth login < key.txt', 'reads it from a file']))
    .action(
      runWith(process, async (context) => {
        const { terminal, environment, format } = context;
        const path = credentialsPath(environment.home);
        const stored = await readCredentials(path);
        if (stored.default !== undefined) {
          throw new CommandFailure('You are logged in already', { code: 'LOGGED_IN', cure: 'Run `tinkex auth logout` first.' });
        }
        const key = await readKey(context);
        const { keyId, name, note, details } = await describeKey(context, key);
        const { name: organization } = details.orgDetails;
        const { email } = details.userDetails;
        const record = {
          type: 'manual',
          key,
          name,
          note,
          details: { org_details: { name: organization }, user_details: { email } },
        } as const;
        const id = String(keyId);
        await writeCredentials(path, setDefaultKey(addKey(stored, id, record), id));
        if (format === 'json') showJson(context, { key_id: keyId, name, email, organization });
        else terminal.print(`Logged in as ${email} (${organization}), key "${name}".`);
        if (environment.apiKey !== undefined) terminal.note('TINKER_API_KEY is set and wins over the stored key.');
      }),
    );
};

async function readKey(context: CommandContext): Promise<string> {
  const { terminal, environment, signal, streams } = context;
  const { consoleUrls } = await import('@tinkex/types');
  let key: string;
  if (terminal.isInteractive) {
    const { isCancel, password } = await import('@clack/prompts');
    terminal.note(`Create a key at ${consoleUrls.newApiKey(`tinker-cli-${environment.hostName}`)}`);
    const answer = await password({ message: 'Paste it here:', signal, output: streams.error });
    if (isCancel(answer)) throw new CommandFailure('Nothing was stored', { code: 'CANCELLED' });
    key = answer;
  } else {
    key = await readKeyLine(streams.input);
  }
  if (key.trim() === '')
    throw new CommandFailure('No key was given', { code: 'NO_KEY', cure: 'Paste it, or pipe it: tinkex auth login < key.txt' });
  return key.trim();
}

async function readKeyLine(input: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_KEY_LENGTH) throw new CommandFailure('The input is too long for a key', { code: 'NO_KEY' });
  }
  return text.split('\n')[0] ?? '';
}
