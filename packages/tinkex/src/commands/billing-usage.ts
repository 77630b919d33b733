import { withAdmin } from '../config/connect.js';
import { csvText } from '../output/csv.js';
import { counted } from '../output/format-time.js';
import { usageJson } from '../output/json-shapes.js';
import { type JsonFields, showCsv, showList } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface BillingUsageOptions {
  readonly sessionsCsv?: string | true | undefined;
}

/** `tinkex billing usage` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('usage')
    .argument('<starting-on>', 'first hour, ISO 8601 in UTC')
    .argument('<ending-before>', 'end, not included; at most 14 days later')
    .description('Show what the organization has used, by the hour. Costs are estimates before discounts.')
    .option('--csv [file]', 'write CSV to a file, or to stdout')
    .option('--sessions-csv [file]', 'write the sessions and their metadata as CSV instead')
    .addHelpText(
      'after',
      examples(['billing usage 2026-07-01 2026-07-08', 'a week'], ['billing usage 2026-07-01 2026-07-08 --csv week.csv', 'into a file']),
    )
    .action(
      runWith<BillingUsageOptions>(process, async (context, { sessionsCsv }, [startingOn = '', endingBefore = '']) => {
        const usage = await withAdmin(context, (admin) => admin.getBillingUsage(startingOn, endingBefore, { signal: context.signal }));
        const json = usageJson(usage);
        if (sessionsCsv !== undefined) {
          const rows = Object.entries(json.sessions).map(([id, { user_metadata: metadata }]) => ({
            session_id: id,
            user_metadata: metadata,
          }));
          const file = sessionsCsv === true ? undefined : sessionsCsv;
          await showCsv(context, csvText(rows, ['session_id', 'user_metadata']), rows.length, file);
          if (context.globals.csv === undefined) return;
        }
        const rows = json.data.map(flatten);
        const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
        await showList(context, {
          title: rows.length === 0 ? 'No usage in this time' : counted(rows.length, 'hourly usage row'),
          columns: names.map((name) => ({ header: name, value: (row: JsonFields) => cellOf(row[name]) })),
          rows,
          json,
          csv: (row) => row,
        });
      }),
    );
};

/** One row per event, with what was used in the row itself. */
function flatten({ event_info: info, ...rest }: JsonFields): JsonFields {
  return { ...rest, ...(info as JsonFields) };
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
