import { randomBytes } from 'node:crypto';
import { lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigurationError } from '@tinkex/types';

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
    const parent = dirname(target);
    await mkdir(parent, { recursive: true });
    return new StagingDirectory(await mkdtemp(join(parent, `.${basename(target)}.partial-`)));
  }

  /** Makes `name` inside the staging directory the target. An existing target is swapped out first and deleted afterwards. */
  async publish(name: string, target: string, overwrite: boolean): Promise<void> {
    const old = join(this.path, `old-${randomBytes(4).toString('hex')}`);
    const hadOld = overwrite && (await exists(target));
    if (hadOld) await rename(target, old);
    try {
      if (!overwrite) await refuseExisting(target);
      await rename(join(this.path, name), target);
    } catch (error) {
      if (hadOld) await rename(old, target);
      throw error;
    }
  }

  /** Removes everything that was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 });
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
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
