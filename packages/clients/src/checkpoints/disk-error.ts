import { TinkexError } from '@tinkex/types';

/** The file system's codes for names that contradict each other, or that it cannot store. */
const FAULTS_OF_NAMES: readonly string[] = ['EEXIST', 'ENOTDIR', 'EISDIR', 'EINVAL', 'EILSEQ', 'ENAMETOOLONG'];

const CURES: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free some space, or choose a directory on another disk.',
  EDQUOT: 'The disk quota is used up. Free some space, or choose a directory on another disk.',
  EFBIG: 'The file system does not take files of this size. Choose a directory on another disk.',
  EROFS: 'The disk is read-only. Choose another directory.',
  EACCES: 'This process may not write there. Change the permissions, or choose another directory.',
  EPERM: 'This process may not write there. Change the permissions, or choose another directory.',
  // Node reports this, too, when it cannot create several directories on a read-only disk.
  ENOENT: 'The directory was removed during the download, or its disk is read-only. Repeat it, or choose another directory.',
  ENOTDIR: 'A part of the path is a file. Choose another directory.',
  EEXIST: 'A part of the path is a file. Choose another directory.',
  ENAMETOOLONG: 'The path is too long. Choose a shorter directory.',
  EMFILE: 'This process has too many open files. Close some, or raise the limit (ulimit -n).',
  ENFILE: 'The system has too many open files. Close some, or raise its limit.',
  EIO: 'The disk has failed. Check it, or choose a directory on another disk.',
};

/** Whether the disk is at fault and not the checkpoint: full, read-only, no permission. */
export function isFaultOfDisk(error: unknown): boolean {
  const code = systemCode(error);
  return code !== undefined && !FAULTS_OF_NAMES.includes(code);
}

/** What the caller of a download receives: a file system's error as a `TinkexError` that says what to do; anything else unchanged. */
export function explainDiskError(error: unknown, directory: string): unknown {
  const code = systemCode(error);
  if (TinkexError.isInstance(error) || code === undefined) return error;
  const cure = CURES[code] ?? 'Check the disk, or choose another directory.';
  return new TinkexError({
    message: `The checkpoint could not be written to ${directory} (${code}). ${cure}`,
    code: 'TINKEX_DISK',
    cause: error,
  });
}

function systemCode(error: unknown): string | undefined {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall === undefined || typeof code !== 'string' ? undefined : code;
}
