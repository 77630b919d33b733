import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withService } from '../config/connect.js';
import { CommandFailure } from '../output/command-failure.js';
import { downloadFolderName, requireDownloadable } from '../output/download-folder.js';
import { formatSize } from '../output/format-size.js';
import { showRecord } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { downloadWithProgress } from './download-with-progress.js';
import { examples } from './help-text.js';

interface DownloadOptions {
  readonly output: string;
  readonly force?: boolean | undefined;
}

/** `tinkex checkpoint download` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('download')
    .argument('<path>', 'tinker://… of a training or external checkpoint')
    .description('Download the files of a checkpoint into a new folder, all or nothing.')
    .option('-o, --output <folder>', 'where the new folder is created', '.')
    .option('--force', 'replace the folder if it exists; the old one stays until everything has arrived')
    .addHelpText('after', examples(['checkpoint download tinker://0bd9d4f8:train:0/weights/final -o weights', 'into weights/']))
    .action(
      runWith<DownloadOptions>(process, async (context, { output, force = false }, [path = '']) => {
        await requireDownloadable(path);
        const directory = join(resolve(output), downloadFolderName(path));
        if (!force && existsSync(directory)) {
          throw new CommandFailure(`${directory} exists already`, {
            code: 'FOLDER_EXISTS',
            cure: 'Pass --force to replace it, or --output.',
          });
        }
        const downloaded = await withService(context, (service) =>
          downloadWithProgress(context, service, path, { directory, overwrite: force }),
        );
        await showRecord(context, {
          title: `Downloaded ${path}`,
          properties: [
            ['Path', path],
            ['Files', String(downloaded.fileCount)],
            ['Total Size', formatSize(downloaded.totalBytes)],
            ['Downloaded to', directory],
          ],
          json: {
            checkpoint_path: path,
            destination: directory,
            file_size_bytes: downloaded.totalBytes,
            file_count: downloaded.fileCount,
          },
        });
      }),
    );
};
