import type { Conversation } from '@tinkex/renderers';
import { ConfigurationError } from '@tinkex/types';
import { type ConversationFormat, ConversationRecords } from './conversation-records.js';
import { type ConversationSource, splitConversations } from './conversation-source.js';
import type { ConversationFileOptions } from './conversations-from-jsonl.js';
import { importHyparquet, importHyparquetCompressors, type ParquetFile, type ParquetReader } from './parquet-peers.js';

/** How many rows are decoded at a time. */
const ROWS_PER_READ = 1000;

/**
 * Conversations of Parquet files, one per row, as the hub stores data sets: in OpenAI's chat format, ShareGPT's or Alpaca's. Needs the package
 * `hyparquet`, and `hyparquet-compressors` for files that are not compressed with Snappy.
 *
 * The files are read when training starts. Rows that cannot be read are all reported in one `ValidationError`, with file and row, before anything is
 * trained.
 *
 * @example
 * const data = conversationsFromParquet('train-00000-of-00001.parquet', { testSize: 100 });
 */
export function conversationsFromParquet(paths: string | readonly string[], options: ConversationFileOptions = {}): ConversationSource {
  return { load: async () => splitConversations(await readConversations([paths].flat(), options.format), options) };
}

async function readConversations(paths: readonly string[], format: ConversationFormat | undefined): Promise<Conversation[]> {
  const reader = await importHyparquet();
  const compressors = await importHyparquetCompressors();
  const records = new ConversationRecords(format);
  for (const path of paths) {
    let row = 0;
    try {
      const file = await reader.asyncBufferFromFile(path);
      for await (const value of rowsOf(reader, { file, compressors })) records.add(`${path}:row ${row++}`, () => plainValue(value));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const cure =
        /compression/.test(reason) && compressors === undefined ? ' Install hyparquet-compressors: npm install hyparquet-compressors' : '';
      throw new ConfigurationError({ option: 'data', message: `The file ${path} cannot be read: ${reason}.${cure}`, cause });
    }
  }
  return records.finish();
}

async function* rowsOf(reader: ParquetReader, file: ParquetFile): AsyncGenerator<unknown> {
  const { num_rows: total } = await reader.parquetMetadataAsync(file.file);
  for (let rowStart = 0; rowStart < Number(total); rowStart += ROWS_PER_READ) {
    const rowEnd = Math.min(Number(total), rowStart + ROWS_PER_READ);
    yield* await reader.parquetReadObjects({ ...file, rowStart, rowEnd });
  }
}

/** A value as JSON would have it. Every row has all columns, so null means that a field is absent; only a message's content may be null. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, own]) => own !== undefined && (own !== null || name === 'content'));
  return Object.fromEntries(entries.map(([name, own]) => [name, plainValue(own)]));
}
