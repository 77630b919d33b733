import { ConfigurationError } from '@tinkex/types';

/** A file, and what decompresses it. */
export interface ParquetFile {
  readonly file: unknown;
  readonly compressors?: unknown;
}

/** The part of `hyparquet` that is used. */
export interface ParquetReader {
  asyncBufferFromFile(path: string): Promise<unknown>;
  parquetMetadataAsync(file: unknown): Promise<{ readonly num_rows: bigint | number }>;
  parquetReadObjects(options: ParquetFile & { readonly rowStart: number; readonly rowEnd: number }): Promise<readonly unknown[]>;
}

/** Imports the optional peer that reads Parquet. The comments keep bundlers from resolving it: docs/decisions/0013-optional-peers-and-bundlers.md */
export async function importHyparquet(): Promise<ParquetReader> {
  try {
    return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ 'hyparquet').catch((error: unknown) => {
      throw error;
    })) as unknown as ParquetReader;
  } catch (cause) {
    const message = 'Parquet files need the package hyparquet, which is not installed: npm install hyparquet hyparquet-compressors';
    throw new ConfigurationError({ option: 'data', message, cause });
  }
}

/** The decompressors of the second optional peer; undefined without it, which is enough for Snappy. */
export async function importHyparquetCompressors(): Promise<unknown> {
  const peer = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ 'hyparquet-compressors').catch(
    () => undefined,
  );
  return peer?.compressors;
}
