import { randomUuid } from '@tinkex/http/runtime';
import { ConfigurationError } from '@tinkex/types';
import { fileSystem, paths } from '../node-files.js';

/**
 * A private directory beside the target, where a result is built before it becomes visible. It is on the same file system as the
 * target, so the final rename is atomic.
 */
export class StagingDirectory implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async beside(target: string): Promise<StagingDirectory> {
    const parent = paths().dirname(target);
    await fileSystem().mkdir(parent, { recursive: true });
    return new StagingDirectory(await fileSystem().mkdtemp(paths().join(parent, `.${paths().basename(target)}.partial-`)));
  }

  /** Makes `name` inside the staging directory the target. An existing target is swapped out first and deleted afterwards. */
  async publish(name: string, target: string, overwrite: boolean): Promise<void> {
    const old = paths().join(this.path, `old-${randomUuid().slice(0, 8)}`);
    const hadOld = overwrite && (await exists(target));
    if (hadOld) await fileSystem().rename(target, old);
    try {
      if (!overwrite) await refuseExisting(target);
      await fileSystem().rename(paths().join(this.path, name), target);
    } catch (error) {
      if (hadOld) await fileSystem().rename(old, target);
      throw error;
    }
  }

  /** Removes everything that was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    await fileSystem().rm(this.path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Throws when the target exists already. */
export async function refuseExisting(target: string): Promise<void> {
  if (!(await exists(target))) return;
  throw new ConfigurationError({
    message: `${target} exists already. Choose another directory, or pass overwrite: true to replace it.`,
    option: 'directory',
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await fileSystem().lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
