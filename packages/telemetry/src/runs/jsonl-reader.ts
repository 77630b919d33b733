import { type FileHandle, open } from 'node:fs/promises';
import { isJsonRecord, type JsonRecord, parseLenientJson } from './run-json.js';

/** A line that cannot be read. */
export interface LineProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** What {@link JsonlReader.read} found. */
export interface JsonlPart {
  readonly records: readonly JsonRecord[];
  readonly problems: readonly LineProblem[];
}

const NEWLINE = 0x0a;

/**
 * Reads a JSONL file that may still grow: each `read()` gives the records that were added since the last one. A last line without a newline is left for
 * the next read, because its writer may not be done with it. A missing file is empty.
 */
export class JsonlReader {
  readonly path: string;
  #offset = 0;
  #lines = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** The records of all complete lines since the last read. Lines that are not JSON objects are problems, and do not end the read. */
  async read(): Promise<JsonlPart> {
    const bytes = await readFrom(this.path, this.#offset);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    this.#offset += end;
    return this.#parse(bytes.subarray(0, end).toString('utf8'));
  }

  /** As `read()`, including a complete object that lacks its newline: for a file whose writer has ended. An incomplete last line is dropped. */
  async readToEnd(): Promise<JsonlPart> {
    const part = await this.read();
    const rest = (await readFrom(this.path, this.#offset)).toString('utf8');
    const last = parseRecord(rest);
    return typeof last === 'string' ? part : { ...part, records: [...part.records, last] };
  }

  #parse(text: string): JsonlPart {
    const records: JsonRecord[] = [];
    const problems: LineProblem[] = [];
    const lines = text.split('\n');
    lines.pop();
    for (const line of lines) {
      this.#lines++;
      if (line.trim() === '') continue;
      const record = parseRecord(line);
      if (typeof record === 'string') problems.push({ file: this.path, line: this.#lines, message: record });
      else records.push(record);
    }
    return { records, problems };
  }
}

/** The object of a line, or why it is not one. */
function parseRecord(line: string): JsonRecord | string {
  try {
    const value = parseLenientJson(line);
    return isJsonRecord(value) ? value : 'The line is not a JSON object.';
  } catch (error) {
    return `The line is not JSON: ${(error as Error).message}`;
  }
}

async function readFrom(path: string, offset: number): Promise<Buffer> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const { size } = await file.stat();
    // A file that became shorter was replaced: nothing new until it grows beyond the old end.
    const bytes = Buffer.alloc(Math.max(0, size - offset));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
