import { withService } from '../config/connect.js';
import { credentialsPath, readCredentials } from '../config/credentials-file.js';
import { EXIT } from '../output/exit-codes.js';
import { explainFailure } from '../output/explain-failure.js';
import { showJson } from '../output/show-result.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex auth status` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('status')
    .description('Show whether there is a credential, where it comes from, and whether the server accepts it.')
    .addHelpText('after', examples(['auth status', 'ends with 1 when something is missing']))
    .action(
      runWith(process, async (context) => {
        const { terminal, format } = context;
        const source = await credentialSource(context);
        const access = await withService(context, (service) => service.getServerCapabilities({ signal: context.signal })).then(
          () => undefined,
          explainFailure,
        );
        const isAccessible = access === undefined;
        if (source === undefined || !isAccessible) context.endWith(EXIT.failure);
        if (format === 'json') {
          showJson(context, { credentials_available: source !== undefined, source: source ?? null, accessible: isAccessible });
          return;
        }
        const { style } = terminal;
        terminal.print(`Credentials available: ${source === undefined ? style.red('no') : `${style.green('yes')} (${source})`}`);
        terminal.print(`Tinker accessible:     ${isAccessible ? style.green('yes') : style.red('no')}`);
        if (source === undefined) terminal.note('Log in with `tinkex auth login`, or set TINKER_API_KEY.');
        else if (access !== undefined) terminal.note([access.message, ...access.details, access.cure ?? ''].join('\n  ').trimEnd());
      }),
    );
};

/** Where the credential comes from, in the order in which sources win. */
async function credentialSource({ environment }: CommandContext): Promise<string | undefined> {
  if (environment.apiKey !== undefined) return 'TINKER_API_KEY';
  if (environment.credentialCommand !== undefined) return 'TINKER_CREDENTIAL_CMD';
  if (environment.home === undefined) return undefined;
  const { default: id, keys } = await readCredentials(credentialsPath(environment.home));
  const stored = id === undefined ? undefined : keys[id];
  return stored === undefined ? undefined : `stored key "${stored.name}"`;
}
