import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigurationError } from '@tinkex/types';

/** What downloads a checkpoint. A `ServiceClient` and a `RestClient` of `@tinkex/clients` are such. */
export interface CheckpointDownloads {
  downloadCheckpoint(path: string, options: { readonly directory: string; readonly signal?: AbortSignal | undefined }): Promise<unknown>;
}

/** Where an adapter comes from. */
export interface AdapterSourceOptions {
  /** Downloads an adapter whose path starts with `tinker://`: `service.createRestClient()`. */
  readonly rest?: CheckpointDownloads | undefined;
  /** Ends the work. Nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** Gives the folder of an adapter to `use`: the folder itself, or one that is downloaded beside `target` and removed afterwards. */
export async function withAdapterFolder<Result>(
  path: string,
  target: string,
  { rest, signal }: AdapterSourceOptions,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  if (!path.startsWith('tinker://')) return await use(path);
  if (rest === undefined) {
    const message = `${path} must be downloaded first. Pass rest: service.createRestClient(), or the folder of a downloaded checkpoint.`;
    throw new ConfigurationError({ option: 'rest', message });
  }
  const folder = await mkdtemp(`${resolve(target)}.adapter-`);
  try {
    const directory = join(folder, 'adapter');
    await rest.downloadCheckpoint(path, { directory, signal });
    return await use(directory);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
