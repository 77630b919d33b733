import type { CliEnvironment } from '../config/environment.js';
import { createStyle, type Style } from './style.js';

/** A stream that may be a terminal. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

const DEFAULT_COLUMNS = 80;

/** Where a command writes: results to stdout, everything else to stderr. */
export class Terminal {
  /** The style of results. */
  readonly style: Style;
  /** The style of notes. */
  readonly noteStyle: Style;
  readonly #out: OutputStream;
  readonly #error: OutputStream;
  readonly #input: { readonly isTTY?: boolean | undefined };

  constructor(streams: TerminalStreams, environment: CliEnvironment, isColorWanted = true) {
    this.#out = streams.out;
    this.#error = streams.error;
    this.#input = streams.input;
    const hasColors = (stream: OutputStream): boolean =>
      isColorWanted && !environment.isColorRefused && (environment.isColorForced || stream.isTTY === true);
    this.style = createStyle(hasColors(streams.out));
    this.noteStyle = createStyle(hasColors(streams.error));
  }

  /** Whether people read the results. */
  get isTty(): boolean {
    return this.#out.isTTY === true;
  }

  /** Whether people read the notes. */
  get isNoteTty(): boolean {
    return this.#error.isTTY === true;
  }

  /** Whether a question can be answered. */
  get isInteractive(): boolean {
    return this.#input.isTTY === true && this.#error.isTTY === true;
  }

  get columns(): number {
    return this.#out.columns || DEFAULT_COLUMNS;
  }

  get noteColumns(): number {
    return this.#error.columns || DEFAULT_COLUMNS;
  }

  /** Writes a part of the result as it is. */
  write(text: string): void {
    this.#out.write(text);
  }

  /** Writes a line of the result. */
  print(line: string): void {
    this.#out.write(`${line}\n`);
  }

  /** Writes a line that is not part of the result. */
  note(line: string): void {
    this.#error.write(`${line}\n`);
  }

  /** Writes what is not part of the result as it is: progress, prompts. */
  writeNote(text: string): void {
    this.#error.write(text);
  }
}

/** The streams of a process. */
export interface TerminalStreams {
  readonly out: OutputStream;
  readonly error: OutputStream;
  readonly input: { readonly isTTY?: boolean | undefined };
}
