import { withRest } from '../config/connect.js';
import { showRecord } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex auth whoami` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('whoami')
    .description('Show whose credential it is.')
    .addHelpText('after', examples(['auth whoami --json', 'for programs']))
    .action(
      runWith(process, async (context) => {
        const { userUrn, orgUrn, email } = await withRest(context, (rest) => rest.whoami({ signal: context.signal }));
        await showRecord(context, {
          title: 'You are',
          properties: [
            ['Email', email ?? 'N/A'],
            ['User', userUrn],
            ['Organization', orgUrn ?? 'N/A'],
          ],
          json: { user_urn: userUrn, org_urn: orgUrn ?? null, email: email ?? null },
        });
      }),
    );
};
