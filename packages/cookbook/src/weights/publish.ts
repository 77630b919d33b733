import { readdir } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError } from '@tinkex/types';
import { readEnvironment } from '../environment.js';

/** The part of `@huggingface/hub` that is used. */
interface HubClient {
  createRepo(options: HubRequest & { readonly visibility: 'private' | 'public' }): Promise<unknown>;
  createBranch(options: HubRequest & { readonly branch: string }): Promise<unknown>;
  uploadFiles(
    options: HubRequest & {
      readonly files: readonly { readonly path: string; readonly content: URL }[];
      readonly commitTitle: string;
      readonly branch?: string;
      readonly isPullRequest?: boolean;
      readonly abortSignal?: AbortSignal;
    },
  ): Promise<{ readonly commit: { readonly oid: string; readonly url: string } } | undefined>;
}

interface HubRequest {
  readonly repo: { readonly type: 'model'; readonly name: string };
  readonly accessToken: string;
  readonly hubUrl?: string;
  readonly fetch?: typeof fetch;
}

/** Options of {@link publish}. */
export interface PublishOptions {
  /** The repository, such as `you/your-model`. It is created if there is none. */
  readonly repository: string;
  /** Default `HF_TOKEN`. */
  readonly token?: string | undefined;
  /** Who sees a repository that is created here. Default `private`. One that exists stays as it is. */
  readonly visibility?: 'private' | 'public' | undefined;
  /** Title of the commit. Default `Upload model`. */
  readonly title?: string | undefined;
  /** Default: the repository's main branch. One that does not exist is created. */
  readonly branch?: string | undefined;
  /** Opens a pull request instead of committing to the branch. Default false. */
  readonly isPullRequest?: boolean | undefined;
  /** Which files of the folder are uploaded, by their path with `/`. Default: all. */
  readonly includeFile?: ((path: string) => boolean) | undefined;
  /** Default: the hub of Hugging Face. */
  readonly hubUrl?: string | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Ends the upload. The repository keeps what it had. */
  readonly signal?: AbortSignal | undefined;
}

/** What was published. */
export interface PublishedModel {
  readonly repository: string;
  /** Where the commit can be seen; undefined when nothing changed. */
  readonly url?: string | undefined;
  readonly fileCount: number;
}

/**
 * Uploads a folder to a hub of models in one commit: an adapter of {@link exportPeft} or a model of {@link mergeAdapter}. Needs the package
 * `@huggingface/hub` and a token that may write.
 */
export async function publish(directory: string, options: PublishOptions): Promise<PublishedModel> {
  const { repository, visibility = 'private', title = 'Upload model', branch, isPullRequest = false, hubUrl, signal } = options;
  const accessToken = options.token ?? readEnvironment().hubToken;
  if (accessToken === undefined)
    throw new ConfigurationError({
      option: 'token',
      environmentVariable: 'HF_TOKEN',
      message: 'Publishing needs a token. Pass token or set HF_TOKEN.',
    });
  const files = await filesOf(directory, options.includeFile ?? (() => true));
  const hub = await importHub();
  const request: HubRequest = {
    repo: { type: 'model', name: repository },
    accessToken,
    ...(hubUrl === undefined ? {} : { hubUrl }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  };
  await unlessThere(hub.createRepo({ ...request, visibility }));
  if (branch !== undefined && !isPullRequest) await unlessThere(hub.createBranch({ ...request, branch }));
  signal?.throwIfAborted();
  const commit = await hub.uploadFiles({
    ...request,
    files,
    commitTitle: title,
    ...(branch === undefined ? {} : { branch }),
    ...(isPullRequest ? { isPullRequest } : {}),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  });
  return { repository, url: commit?.commit.url, fileCount: files.length };
}

/** Waits for the creation of something that may exist already. */
async function unlessThere(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    // 409: it exists already.
    if ((error as { statusCode?: number }).statusCode !== 409) throw error;
  }
}

async function filesOf(
  directory: string,
  includeFile: (path: string) => boolean,
): Promise<{ readonly path: string; readonly content: URL }[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path: relative(directory, path).split(sep).join('/'), content: pathToFileURL(resolve(path)) }))
    .filter(({ path }) => includeFile(path));
  if (files.length === 0) throw new ConfigurationError({ option: 'directory', message: `${directory} has no files to publish.` });
  return files;
}

/** The comments keep bundlers from resolving the optional peer: docs/decisions/0013-optional-peers-and-bundlers.md */
async function importHub(): Promise<HubClient> {
  try {
    return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@huggingface/hub').catch(
      (error: unknown) => {
        throw error;
      },
    )) as unknown as HubClient;
  } catch (cause) {
    const message = 'Publishing needs the package @huggingface/hub, which is not installed: npm install @huggingface/hub';
    throw new ConfigurationError({ option: 'directory', message, cause });
  }
}
