import { withAdmin } from '../config/connect.js';
import { formatSize } from '../output/format-size.js';
import { storageJson } from '../output/json-shapes.js';
import { type JsonFields, showList } from '../output/show-result.js';
import type { Column } from '../output/table.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

const COLUMNS: readonly Column<JsonFields>[] = [
  { header: 'Project', value: (row) => String(row['project_id'] ?? '') },
  { header: 'Owner', value: (row) => String(row['user_email'] ?? row['user_name'] ?? row['org_user_urn'] ?? '') },
  { header: 'Checkpoints', value: (row) => String(row['checkpoint_count'] ?? ''), isRight: true },
  { header: 'Size', value: (row) => formatSize(Number(row['size_bytes'] ?? -1)), isRight: true },
  { header: 'USD per Month', value: (row) => priceOf(row['estimated_monthly_cost_usd']), isRight: true },
];

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
        await showList(context, {
          title: rows.length === 0 ? 'No checkpoint storage in use' : `Current checkpoint storage${priceText(rate)}`,
          columns: COLUMNS,
          rows,
          json,
          csv: (row) => row,
        });
      }),
    );
};

function priceText(rate: number | null): string {
  return rate === null ? '' : `, at ${rate} USD per gigabyte and month`;
}

/** Cents, and for less the first two digits that say something. */
function priceOf(usd: unknown): string {
  if (typeof usd !== 'number') return '';
  return usd >= 0.01 || usd === 0 ? usd.toFixed(2) : String(Number(usd.toPrecision(2)));
}
