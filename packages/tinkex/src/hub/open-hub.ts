import { readFile } from 'node:fs/promises';
import type { CommandContext } from '../commands/command-context.js';
import { CommandFailure } from '../output/command-failure.js';

/** The part of `@huggingface/hub` that is used here. */
interface HubLibrary {
  whoAmI(options: { readonly accessToken: string; readonly hubUrl?: string }): Promise<{ readonly name: string }>;
  downloadFile(options: {
    readonly repo: { readonly type: 'model'; readonly name: string };
    readonly path: string;
    readonly revision?: string;
    readonly accessToken: string;
    readonly hubUrl?: string;
  }): Promise<Blob | null>;
}

/** A hub of models, with the user's login. */
export interface Hub {
  readonly token: string;
  /** Undefined for the hub of Hugging Face. */
  readonly url: string | undefined;
  /** The name of the user. */
  userName(): Promise<string>;
  /** The model card of a repository; undefined if it has none, or does not exist. */
  readCard(repository: string, branch: string | undefined): Promise<string | undefined>;
}

/** Opens the hub. Throws a failure that says what to do without the library or without a login. Makes no request. */
export async function openHub({ environment }: CommandContext): Promise<Hub> {
  const library = await importLibrary();
  const token = environment.hubToken ?? (await readToken(environment.hubTokenFile));
  if (token === undefined) {
    throw new CommandFailure('Not logged in to the hub', {
      code: 'NO_HUB_TOKEN',
      cure: 'Set HF_TOKEN to a token that may write, or run `hf auth login`.',
    });
  }
  const access = { accessToken: token, ...(environment.hubUrl === undefined ? {} : { hubUrl: environment.hubUrl }) };
  return {
    token,
    url: environment.hubUrl,
    userName: async () => (await library.whoAmI(access)).name,
    async readCard(repository, branch) {
      try {
        const revision = branch === undefined ? {} : { revision: branch };
        const file = await library.downloadFile({ repo: { type: 'model', name: repository }, path: 'README.md', ...revision, ...access });
        return (await file?.text()) ?? undefined;
      } catch (error) {
        // Neither the repository nor the branch exists yet.
        if ((error as { statusCode?: number }).statusCode === 404) return undefined;
        throw error;
      }
    },
  };
}

async function readToken(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return (await readFile(file, 'utf8')).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function importLibrary(): Promise<HubLibrary> {
  try {
    return (await import('@huggingface/hub')) as unknown as HubLibrary;
  } catch (cause) {
    const failure = new CommandFailure('This needs the package @huggingface/hub, which is not installed', {
      code: 'NO_HUB_LIBRARY',
      cure: 'Install it: npm install @huggingface/hub. With npx: npx -p tinkex -p @huggingface/hub tinkex checkpoint push-hf …',
    });
    failure.cause = cause;
    throw failure;
  }
}
