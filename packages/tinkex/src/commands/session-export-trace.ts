import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withRest } from '../config/connect.js';
import { formatSize } from '../output/format-size.js';
import { ProgressBar } from '../output/progress-bar.js';
import { showJson, showRecord } from '../output/show-result.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface ExportTraceOptions {
  readonly output?: string | undefined;
  readonly urlOnly?: boolean | undefined;
}

const STALL_MS = 60_000;

/** `tinkex session export-trace` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('export-trace')
    .argument('<session-id>')
    .description('Download a performance trace of a session, for ui.perfetto.dev.')
    .option('-o, --output <file>', 'where to write it; default: SESSION_ID.pftrace')
    .option('--url-only', 'print the address of the trace instead; it is signed and valid for about an hour')
    .addHelpText('after', examples(['session export-trace 0bd9d4f8 -o trace.pftrace', 'into a file']))
    .action(
      runWith<ExportTraceOptions>(process, async (context, { output, urlOnly = false }, [sessionId = '']) => {
        const { terminal, format, signal } = context;
        if (format !== 'json' && !urlOnly) terminal.note('The server writes the trace. This may take a few minutes.');
        const url = await withRest(context, (rest) => rest.exportSessionTrace(sessionId, { signal }));
        if (urlOnly) {
          if (format === 'json') showJson(context, { session_id: sessionId, url });
          else terminal.print(url);
          return;
        }
        const file = resolve(output ?? `${sessionId}.pftrace`);
        const bytes = await download(context, url, file);
        await showRecord(context, {
          title: 'Exported a trace',
          properties: [
            ['Session ID', sessionId],
            ['Destination', file],
            ['Size', formatSize(bytes)],
          ],
          json: { session_id: sessionId, destination: file, file_size_bytes: bytes },
        });
      }),
    );
};

/** Writes a file beside the wanted one and renames it at the end: a broken download leaves nothing behind. */
async function download(context: CommandContext, url: string, file: string): Promise<number> {
  const { HttpClient } = await import('@tinkex/http');
  const { origin, pathname, search } = new URL(url);
  await using client = new HttpClient({ baseUrl: origin, attemptTimeoutMs: STALL_MS, maxRetries: 2 });
  const { body, headers } = await client.stream({ method: 'GET', path: `${pathname}${search}`, accept: '*/*', signal: context.signal });
  const total = Number(headers['content-length'] ?? 0) || undefined;
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.partial`;
  using bar = new ProgressBar(context.terminal, { isShown: context.format === 'table' });
  try {
    let done = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const block of body) {
        done += block.byteLength;
        bar.update({ done, total });
        yield block;
      }
    };
    await pipeline(Readable.from(counted()), createWriteStream(partial), { signal: context.signal });
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return (await stat(file)).size;
}
