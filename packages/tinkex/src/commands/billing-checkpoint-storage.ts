import { withAdmin } from '../config/connect.js';
import { storageJson } from '../output/json-shapes.js';
import { type JsonFields, showList } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface StorageOptions {
  readonly projectId?: string | undefined;
}

/** `tinkex billing checkpoint-storage` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('checkpoint-storage')
    .description('Show the storage that checkpoints use now, by project and owner.')
    .option('--project-id <id>', 'only this project')
    .option('--csv [file]', 'write CSV to a file, or to stdout')
    .addHelpText('after', examples(['billing checkpoint-storage --json', 'for programs']))
    .action(
      runWith<StorageOptions>(process, async (context, { projectId }) => {
        const usage = await withAdmin(context, (admin) => admin.getCurrentCheckpointStorageUsage({ projectId, signal: context.signal }));
        const json = storageJson(usage);
        const { effective_rate_usd_per_gigabyte_month: rate } = json;
        const rows: JsonFields[] = json.data.map((row) => ({ effective_rate_usd_per_gigabyte_month: rate, ...row }));
        const names = Object.keys(rows[0] ?? {});
        await showList(context, {
          title: rows.length === 0 ? 'No checkpoint storage in use' : 'Current checkpoint storage',
          columns: names.map((name) => ({ header: name, value: (row: JsonFields) => String(row[name] ?? '') })),
          rows,
          json,
          csv: (row) => row,
        });
      }),
    );
};
