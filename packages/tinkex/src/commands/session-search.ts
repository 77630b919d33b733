import type { SessionSearchRequest, SessionSummary } from '@tinkex/clients';
import { withRest } from '../config/connect.js';
import { wrongUsage } from '../output/command-failure.js';
import { fetchList, listTitle } from '../output/fetch-list.js';
import { formatSize } from '../output/format-size.js';
import { formatTime } from '../output/format-time.js';
import { sessionJson } from '../output/json-shapes.js';
import { showList } from '../output/show-result.js';
import { countOf, repeated } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface SearchOptions {
  readonly project: readonly string[];
  readonly metadata: readonly string[];
  readonly status: readonly string[];
  readonly accessible?: boolean | undefined;
  readonly limit: number;
}

const STATUSES = ['active', 'cancelled', 'failed', 'client_finished'] as const;
const PAGE_SIZE = 200;

/** `tinkex session search` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('search')
    .argument('[name]', 'display name of a session')
    .description('Search sessions, newest first. All conditions must hold.')
    .option('--project <id>', 'of this project; repeat it for more', repeated, [])
    .option('--metadata <name=value>', 'with this metadata; repeat it for more', repeated, [])
    .option('--status <status>', `one of ${STATUSES.join(', ')}; repeat it for more`, repeated, [])
    .option('--accessible', 'also sessions of others that you may see')
    .option('--limit <count>', 'how many to show; 0 shows all', countOf, 20)
    .option('--csv [file]', 'write CSV to a file, or to stdout')
    .addHelpText(
      'after',
      examples(['session search --status active', 'what runs now'], ['session search --metadata team=search', 'by metadata']),
    )
    .action(
      runWith<SearchOptions>(process, async (context, options, [name]) => {
        const request = requestOf(options, name);
        const list = await withRest(context, async (rest) => {
          const found = rest.searchSessions(request, { signal: context.signal });
          const itemsOf = (page: { sessions: readonly SessionSummary[] }): readonly SessionSummary[] => page.sessions;
          return await fetchList(context, { pages: () => found.pages(), itemsOf, totalOf: () => undefined }, options.limit);
        });
        const now = context.now();
        await showList(context, {
          title: listTitle(list, 'session'),
          columns: [
            { header: 'Session ID', value: ({ sessionId }) => sessionId },
            { header: 'Name', value: ({ displayName }) => displayName ?? '' },
            { header: 'Status', value: ({ status }) => status?.type ?? 'N/A' },
            { header: 'Project', value: ({ projectId }) => projectId },
            { header: 'Created', value: ({ createdAt }) => formatTime(createdAt, now) },
            { header: 'Checkpoints', value: ({ checkpointsCount }) => String(checkpointsCount), isRight: true },
            { header: 'Storage', value: ({ checkpointStorageBytes }) => formatSize(checkpointStorageBytes), isRight: true },
          ],
          rows: list.items,
          json: { sessions: list.items.map(sessionJson) },
          csv: sessionJson,
        });
      }),
    );
};

function requestOf(
  { project, metadata, status, accessible = false, limit }: SearchOptions,
  name: string | undefined,
): SessionSearchRequest {
  const statuses = status.map((type) => {
    const known = STATUSES.find((each) => each === type);
    if (known === undefined) throw wrongUsage(`There is no status "${type}"`, `Statuses: ${STATUSES.join(', ')}`);
    return { type: known };
  });
  const pairs = metadata.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw wrongUsage(`"${text}" is not metadata`, 'Write it as --metadata name=value.');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return {
    displayName: name,
    ...(project.length > 0 && { projectIds: project }),
    ...(pairs.length > 0 && { userMetadata: Object.fromEntries(pairs) as Record<string, string> }),
    ...(statuses.length > 0 && { statuses }),
    ...(accessible && { owner: { type: 'accessible' } as const }),
    limit: limit === 0 ? PAGE_SIZE : Math.min(limit, PAGE_SIZE),
  };
}
