import { credentialsPath, deleteKey, readCredentials, writeCredentials } from '../config/credentials-file.js';
import { revokeKey } from '../config/own-key.js';
import { CommandFailure } from '../output/command-failure.js';
import { showJson } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex auth logout` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('logout')
    .description('Remove the stored API key.')
    .addHelpText('after', examples(['auth logout', 'keys that you created yourself stay valid']))
    .action(
      runWith(process, async (context) => {
        const { terminal, environment, format } = context;
        const path = credentialsPath(environment.home);
        const credentials = await readCredentials(path);
        const id = credentials.default;
        const stored = id === undefined ? undefined : credentials.keys[id];
        if (id === undefined || stored === undefined) {
          throw new CommandFailure('You are not logged in', { code: 'NOT_LOGGED_IN', cure: 'There is nothing to remove.' });
        }
        await writeCredentials(path, deleteKey(credentials, id));
        const isRevoked = stored.type === 'generated';
        if (isRevoked) await revokeKey(context, stored.key);
        const { consoleUrls } = await import('@tinkex/types');
        if (format === 'json') showJson(context, { key_id: id, name: stored.name, revoked: isRevoked });
        else terminal.print(`Removed the key "${stored.name}"${isRevoked ? ' and revoked it' : ''}.`);
        if (!isRevoked) terminal.note(`The key itself is still valid. Delete it at ${consoleUrls.apiKey(id)}`);
      }),
    );
};
