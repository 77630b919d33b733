import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceClient } from '@tinkex/clients';
import { withService } from '../config/connect.js';
import { completeAdapter } from '../hub/adapter-folder.js';
import { filePatterns } from '../hub/file-patterns.js';
import { modelCard, otherCheckpointIn } from '../hub/model-card.js';
import { type Hub, openHub } from '../hub/open-hub.js';
import { repositoryNameFor, safeRepositoryName } from '../hub/repository-name.js';
import { CommandFailure } from '../output/command-failure.js';
import { requireDownloadable } from '../output/download-folder.js';
import { showRecord } from '../output/show-result.js';
import { repeated } from './arguments.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { downloadWithProgress } from './download-with-progress.js';
import { examples } from './help-text.js';

interface PushOptions {
  readonly repo?: string | undefined;
  readonly public?: boolean | undefined;
  readonly revision?: string | undefined;
  readonly commitMessage?: string | undefined;
  readonly createPr?: boolean | undefined;
  readonly allowPattern: readonly string[];
  readonly ignorePattern: readonly string[];
  /** False with `--no-model-card`. */
  readonly modelCard: boolean;
}

/** Where an adapter goes on the hub. */
interface Destination {
  readonly repository: string;
  readonly branch: string | undefined;
}

/** `tinkex checkpoint push-hf` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('push-hf')
    .argument('<path>', 'tinker://… of a training or external checkpoint')
    .description('Upload the adapter of a checkpoint to the Hugging Face Hub. Needs @huggingface/hub and a token.')
    .option('-r, --repo <name>', 'repository, such as you/your-model; default: from the model and the run')
    .option('--public', 'a repository that is created here is public; default: private')
    .option('--revision <branch>', 'the branch to commit to')
    .option('--commit-message <text>', 'title of the commit')
    .option('--create-pr', 'open a pull request instead')
    .option('--allow-pattern <glob>', 'only these files; repeat it for more', repeated, [])
    .option('--ignore-pattern <glob>', 'without these files; repeat it for more', repeated, [])
    .option('--no-model-card', 'do not add a README')
    .addHelpText('after', examples(['checkpoint push-hf tinker://0bd9d4f8:train:0/weights/final --repo you/your-model', 'privately']))
    .action(
      runWith<PushOptions>(process, async (context, options, [path = '']) => {
        await requireDownloadable(path);
        const hub = await openHub(context);
        const temporary = await mkdtemp(join(tmpdir(), 'tinkex-push-'));
        try {
          const { repository } = await push(context, hub, options, path, join(temporary, 'adapter'));
          const isPublic = options.public === true;
          await showRecord(context, {
            title: `Pushed ${path}`,
            properties: [
              ['Path', path],
              ['Repository', repository],
              ...(options.revision === undefined ? [] : [['Revision', options.revision] as const]),
              ['Public', isPublic ? 'Yes' : 'No'],
            ],
            json: {
              checkpoint_path: path,
              repo_id: repository,
              ...(options.revision === undefined ? {} : { revision: options.revision }),
              public: isPublic,
            },
          });
        } finally {
          await rm(temporary, { recursive: true, force: true });
        }
      }),
    );
};

async function push(context: CommandContext, hub: Hub, options: PushOptions, path: string, folder: string): Promise<Destination> {
  const known = await withService(context, async (service) => {
    await downloadWithProgress(context, service, path, { directory: folder });
    return await baseModelOf(service, path, context.signal);
  });
  const baseModel = await completeAdapter(folder, known);
  const destination = await destinationOf(hub, options, path, known);
  const card = await hub.readCard(destination.repository, destination.branch);
  refuseOther(card, path, destination);
  const readme = join(folder, 'README.md');
  if (options.modelCard && !existsSync(readme)) await writeFile(readme, modelCard(baseModel, path, destination.repository));
  const { publish } = await import('@tinkex/cookbook');
  await publish(folder, {
    repository: destination.repository,
    branch: destination.branch,
    token: hub.token,
    hubUrl: hub.url,
    visibility: options.public === true ? 'public' : 'private',
    title: options.commitMessage ?? `Upload ${path}`,
    isPullRequest: options.createPr,
    includeFile: filePatterns(options.allowPattern, options.ignorePattern),
    signal: context.signal,
  });
  return destination;
}

/** The hub needs no answer: an adapter of an unknown model is still an adapter. */
async function baseModelOf(service: ServiceClient, path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await service.createRestClient().getWeightsInfoByTinkerPath(path, { signal })).baseModel;
  } catch (error) {
    signal.throwIfAborted();
    const { TinkexError } = await import('@tinkex/types');
    if (TinkexError.isInstance(error)) return undefined;
    throw error;
  }
}

async function destinationOf(hub: Hub, { repo, revision }: PushOptions, path: string, baseModel: string | undefined): Promise<Destination> {
  const { parseCheckpointPath } = await import('@tinkex/types');
  const { trainingRunId, checkpointId } = parseCheckpointPath(path);
  const name = repo ?? repositoryNameFor(baseModel, trainingRunId);
  const repository = name.includes('/') ? name : `${await hub.userName()}/${name}`;
  // Each checkpoint of a run gets its own branch in the repository of the run.
  const branch = revision ?? (repo === undefined ? safeRepositoryName(checkpointId.replaceAll('/', '-')) : undefined);
  return { repository, branch };
}

function refuseOther(card: string | undefined, path: string, { repository }: Destination): void {
  const other = card === undefined ? undefined : otherCheckpointIn(card, path);
  if (other === undefined) return;
  throw new CommandFailure(`${repository} holds another checkpoint: ${other}`, {
    code: 'OTHER_CHECKPOINT',
    cure: 'Choose another repository with --repo, or another branch with --revision.',
  });
}
