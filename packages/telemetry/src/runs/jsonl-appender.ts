import { type FileHandle, open } from 'node:fs/promises';
import { type JsonRecord, parseLenientJson, stringifyLine } from './run-json.js';

/** Options of {@link JsonlAppender.append}. */
export interface AppendOptions {
  /** Whether the line is on the disk when `append` returns, so that it survives a power failure. Default false: it survives a crash of the process. */
  readonly isDurable?: boolean | undefined;
}

const NEWLINE = 0x0a;

/**
 * Appends objects to a JSONL file, in the order of the calls. A line that a crash left incomplete is removed when the file is opened; each line is written
 * by one call of the system, so that readers see whole lines.
 */
export class JsonlAppender {
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Opens or creates the file and repairs its end. */
  static async open(path: string): Promise<JsonlAppender> {
    const file = await open(path, 'a+');
    try {
      await endWithWholeLine(file);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new JsonlAppender(file);
  }

  /** Adds one line. */
  append(record: JsonRecord, { isDurable = false }: AppendOptions = {}): Promise<void> {
    const line = `${stringifyLine(record)}\n`;
    const written = this.#last.then(async () => {
      await this.#file.write(line);
      if (isDurable) await this.#file.datasync();
    });
    // A failure rejects its own call; later lines are still attempted.
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** Waits for the lines before, then closes the file. */
  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }
}

/** Ends the last line if it is a complete object; removes it otherwise. */
async function endWithWholeLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const bytes = Buffer.alloc(size);
  await file.read(bytes, 0, size, 0);
  if (size === 0 || bytes[size - 1] === NEWLINE) return;
  const start = bytes.lastIndexOf(NEWLINE) + 1;
  // Only the newline is missing if the object is closed; a part of an object never parses.
  if (isJson(bytes.subarray(start).toString('utf8'))) await file.write('\n');
  else await file.truncate(start);
}

function isJson(line: string): boolean {
  try {
    parseLenientJson(line);
    return true;
  } catch {
    return false;
  }
}
