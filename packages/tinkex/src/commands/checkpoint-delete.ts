import type { Checkpoint, RestClient } from '@tinkex/clients';
import { withRest } from '../config/connect.js';
import { wrongUsage } from '../output/command-failure.js';
import { confirm } from '../output/confirm.js';
import { checkpointColumns } from '../output/describe-objects.js';
import { formatSize } from '../output/format-size.js';
import { counted } from '../output/format-time.js';
import { checkpointJson } from '../output/json-shapes.js';
import { ProgressBar } from '../output/progress-bar.js';
import { showJson } from '../output/show-result.js';
import { renderTable } from '../output/table.js';
import { checkpointTypeOf, dateOf } from './arguments.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface DeleteOptions {
  readonly runId?: string | undefined;
  readonly type?: string | undefined;
  readonly before?: Date | undefined;
  readonly after?: Date | undefined;
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

const MAX_CONCURRENT = 32;

/** `tinkex checkpoint delete` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('delete')
    .argument('[paths...]', 'tinker://… of checkpoints')
    .description('Delete checkpoints permanently: those named, or those of a run.')
    .option('--run-id <id>', 'all checkpoints of this run, narrowed by the next three')
    .option('--type <type>', 'only this kind: training, sampler or external', checkpointTypeOf)
    .option('--before <date>', 'only those created before; ISO 8601, UTC without a zone', dateOf)
    .option('--after <date>', 'only those created after', dateOf)
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would be deleted, and delete nothing')
    .addHelpText(
      'after',
      examples(
        ['checkpoint delete tinker://0bd9d4f8:train:0/weights/0010', 'one checkpoint; asks first'],
        ['checkpoint delete --run-id 0bd9d4f8:train:0 --before 2026-01-01 --dry-run', 'shows what a filter finds'],
      ),
    )
    .action(
      runWith<DeleteOptions>(process, async (context, options, paths) => {
        await checkArguments(options, paths);
        await withRest(context, async (rest) => {
          const found = options.runId === undefined ? undefined : await findCheckpoints(rest, options, context);
          const doomed = found?.map(({ tinkerPath }) => tinkerPath) ?? [...new Set(paths)];
          if (doomed.length === 0) {
            if (context.format === 'json') showJson(context, { deleted_count: 0, failed: [] });
            else context.terminal.print('No checkpoint matches.');
            return;
          }
          if (options.dryRun === true) showPlan(context, doomed, found);
          else if (options.yes === true || (await confirmed(context, doomed, found))) await deleteAll(context, rest, doomed);
          else context.terminal.print('Nothing was deleted.');
        });
      }),
    );
};

async function checkArguments(options: DeleteOptions, paths: readonly string[]): Promise<void> {
  const { runId, type, before, after } = options;
  if (runId === undefined && paths.length === 0) throw wrongUsage('Name checkpoints to delete, or a run with --run-id');
  if (runId !== undefined && paths.length > 0) throw wrongUsage('Name either checkpoints or a run, not both');
  if (runId === undefined && (type ?? before ?? after) !== undefined) throw wrongUsage('--type, --before and --after need --run-id');
  const { parseCheckpointPath } = await import('@tinkex/types');
  for (const path of paths) {
    if (!path.startsWith('tinker://')) throw wrongUsage(`"${path}" is not a checkpoint path`, 'Paths start with tinker://.');
    parseCheckpointPath(path);
  }
}

async function findCheckpoints(rest: RestClient, options: DeleteOptions, { signal }: CommandContext): Promise<Checkpoint[]> {
  const { runId = '', type, before, after } = options;
  const { checkpoints } = await rest.listCheckpoints(runId, { signal });
  return checkpoints.filter(
    ({ checkpointType, time }) =>
      (type === undefined || checkpointType === type) && (before === undefined || time < before) && (after === undefined || time > after),
  );
}

function showPlan(context: CommandContext, paths: readonly string[], found: readonly Checkpoint[] | undefined): void {
  if (context.format === 'json') {
    showJson(context, { would_delete: found === undefined ? paths : found.map(checkpointJson) });
    return;
  }
  context.terminal.write(planText(context, paths, found));
  context.terminal.print('Dry run: nothing was deleted.');
}

function planText({ terminal, now }: CommandContext, paths: readonly string[], found: readonly Checkpoint[] | undefined): string {
  if (found === undefined) return paths.map((path) => `  ${path}\n`).join('');
  const table = renderTable(checkpointColumns(now()), found, {
    isBoxed: terminal.isTty,
    columns: terminal.columns,
    style: terminal.style,
  });
  const bytes = found.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0);
  return `${table}${counted(found.length, 'checkpoint')}, ${formatSize(bytes)} in all\n`;
}

async function confirmed(context: CommandContext, paths: readonly string[], found: readonly Checkpoint[] | undefined): Promise<boolean> {
  const { terminal } = context;
  if (terminal.isInteractive) {
    terminal.writeNote(planText(context, paths, found));
    terminal.note(terminal.noteStyle.yellow('Deleted checkpoints cannot be restored.'));
  }
  return await confirm(context, `Delete ${counted(paths.length, 'checkpoint')}?`);
}

async function deleteAll(context: CommandContext, rest: RestClient, paths: readonly string[]): Promise<void> {
  const { terminal, format, signal } = context;
  const failed: { tinker_path: string; error: string }[] = [];
  const waiting = [...paths];
  let done = 0;
  using bar = new ProgressBar(terminal, { isShown: format === 'table', format: (value) => value.toLocaleString('en-US') });
  const worker = async (): Promise<void> => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      try {
        signal.throwIfAborted();
        await rest.deleteCheckpointFromTinkerPath(path, { signal });
      } catch (error) {
        failed.push({ tinker_path: path, error: (error as Error).message });
      }
      done++;
      bar.update({ done, total: paths.length });
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  const deleted = paths.length - failed.length;
  // One line, as the reference command prints it.
  if (format === 'json') {
    terminal.print(JSON.stringify({ deleted_count: deleted, failed }));
    return;
  }
  terminal.print(`Deleted ${counted(deleted, 'checkpoint')}.`);
  if (failed.length === 0) return;
  terminal.note(terminal.noteStyle.red(`${counted(failed.length, 'checkpoint')} could not be deleted:`));
  for (const { tinker_path: path, error } of failed) terminal.note(`  ${path}: ${error}`);
}
