import { join } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { bundles, plainEnvironment } from './program-files.js';

/** What to start a program with. */
export interface PtyOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where it leaves files, and the directory it is started in. */
  readonly out: string;
  readonly columns: number;
  readonly rows: number;
}

/** A shell that runs one program and says how it ended, then waits for a line: so nothing of the screen is lost at the end. */
const SHELL = 'trap : INT; "$@"; echo "[exit code $?]"; read -r _';
const ENDED = /^\[exit code (\d+)\]$/m;

/** An example in a real pseudo-terminal, whose output a terminal emulator shows as a person would see it. */
export class ProgramInPty implements AsyncDisposable {
  readonly #pty: IPty;
  readonly #terminal: Terminal;
  readonly #closed: Promise<void>;
  #output = '';

  constructor(name: string, { args = [], env = {}, out, columns, rows }: PtyOptions) {
    this.#terminal = new Terminal({ cols: columns, rows, scrollback: 1_000, allowProposedApi: true });
    this.#pty = spawn('sh', ['-c', SHELL, 'sh', process.execPath, join(bundles, `${name}.js`), ...args], {
      name: 'xterm-256color',
      cols: columns,
      rows,
      cwd: out,
      env: { ...plainEnvironment(), TINKEX_EXAMPLES_OUT: out, ...env },
    });
    this.#closed = new Promise((resolve) => {
      this.#pty.onExit(() => resolve());
    });
    this.#pty.onData((data) => {
      this.#output += data;
      this.#terminal.write(data);
    });
  }

  /** Types keys; `'\x03'` is Ctrl-C. */
  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** The lines on the screen and above it, without empty ones at the end. */
  get lines(): readonly string[] {
    const { active } = this.#terminal.buffer;
    const lines = Array.from({ length: active.length }, (_, index) => active.getLine(index)?.translateToString().trimEnd() ?? '');
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  }

  /** Lines that were too long for the terminal and continue in the next one. */
  get wrappedLines(): readonly string[] {
    const { active } = this.#terminal.buffer;
    return this.lines.filter((_, index) => active.getLine(index + 1)?.isWrapped === true);
  }

  /** The column, from 0, in which the next character would be shown. */
  get cursorColumn(): number {
    return this.#terminal.buffer.active.cursorX;
  }

  get isCursorShown(): boolean {
    return this.#output.lastIndexOf('\x1b[?25h') >= this.#output.lastIndexOf('\x1b[?25l');
  }

  /** Whether any character of the line has a color. */
  hasColour(line: number): boolean {
    const cells = this.#terminal.buffer.active.getLine(line);
    return Array.from({ length: this.#terminal.cols }, (_, column) => cells?.getCell(column)?.isFgDefault()).includes(false);
  }

  /** The lines in pieces of one color and weight. */
  get spans(): readonly (readonly { text: string; color?: number | undefined; isBold: boolean }[])[] {
    const { active } = this.#terminal.buffer;
    return this.lines.map((line, row) => {
      const spans: { text: string; color?: number | undefined; isBold: boolean }[] = [];
      for (let column = 0; column < line.length; column++) {
        const cell = active.getLine(row)?.getCell(column);
        const color = cell === undefined || cell.isFgDefault() ? undefined : cell.getFgColor();
        const isBold = cell !== undefined && cell.isBold() !== 0;
        const last = spans.at(-1);
        if (last !== undefined && last.color === color && last.isBold === isBold) last.text += line[column] ?? ' ';
        else spans.push({ text: line[column] ?? ' ', color, isBold });
      }
      return spans;
    });
  }

  /** Calls a function each time the screen has changed. */
  onShown(look: () => void): { dispose(): void } {
    return this.#terminal.onWriteParsed(look);
  }

  /** Waits until the screen shows something. Fails, with the screen, if the program ends without having shown it. */
  async shows(what: RegExp): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        const text = this.lines.join('\n');
        if (what.test(text)) resolve();
        else if (ENDED.test(text)) reject(new Error(`The program ended without showing ${what}:\n${text}`));
        else return;
        watch.dispose();
      };
      const watch = this.#terminal.onWriteParsed(look);
      look();
    });
  }

  /** Waits for the end of the program. Returns its exit code. */
  async ends(): Promise<number> {
    await this.shows(ENDED);
    return Number(ENDED.exec(this.lines.join('\n'))?.[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pty.kill();
    await this.#closed;
    this.#terminal.dispose();
  }
}
