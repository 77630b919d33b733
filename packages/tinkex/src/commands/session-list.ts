import { withRest } from '../config/connect.js';
import { fetchList, listTitle } from '../output/fetch-list.js';
import { showList } from '../output/show-result.js';
import { countOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

const PAGE_SIZE = 100;

/** `tinkex session list` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('list')
    .description('List the IDs of your sessions.')
    .option('--limit <count>', 'how many to show; 0 shows all', countOf, 20)
    .option('--csv [file]', 'write CSV to a file, or to stdout')
    .addHelpText('after', examples(['session list --limit 5', 'the first five']))
    .action(
      runWith<{ readonly limit: number }>(process, async (context, { limit }) => {
        const pageSize = limit === 0 ? PAGE_SIZE : Math.min(PAGE_SIZE, limit);
        const list = await withRest(context, async (rest) => {
          const sessions = rest.listSessions({ limit: pageSize, signal: context.signal });
          const itemsOf = (page: { sessions: readonly string[] }): readonly string[] => page.sessions;
          return await fetchList(context, { pages: () => sessions.pages(), itemsOf, totalOf: () => undefined }, limit);
        });
        await showList(context, {
          title: listTitle(list, 'session'),
          columns: [{ header: 'Session ID', value: (id) => id }],
          rows: list.items,
          json: { sessions: list.items },
          csv: (id) => ({ session_id: id }),
        });
      }),
    );
};
