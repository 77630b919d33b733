import { type IPty, spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { MAIN, plainEnvironment } from './run-command.js';

/** What a command is started with. */
export interface PtyOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly columns?: number;
}

/** A shell that runs the command and says how it ended, then waits for a line: so nothing of the screen is lost at the end. */
const SHELL = 'trap : INT; "$@"; echo "[exit code $?]"; read -r _';
// After Ctrl-C the terminal has written ^C before it.
const ENDED = /\[exit code (\d+)\]$/m;

/** The command in a real pseudo-terminal, whose output a terminal emulator shows as a person would see it. */
export class CommandInPty implements AsyncDisposable {
  readonly #pty: IPty;
  readonly #terminal: Terminal;
  readonly #closed: Promise<void>;

  constructor(args: readonly string[], { env = {}, cwd, columns = 100 }: PtyOptions) {
    const size = { cols: columns, rows: 40 };
    this.#terminal = new Terminal({ ...size, scrollback: 1_000, allowProposedApi: true });
    this.#pty = spawn('sh', ['-c', SHELL, 'sh', process.execPath, MAIN, ...args], {
      name: 'xterm-256color',
      ...size,
      cwd,
      env: { ...plainEnvironment(), ...env },
    });
    this.#closed = new Promise((resolve) => {
      this.#pty.onExit(() => resolve());
    });
    this.#pty.onData((data) => this.#terminal.write(data));
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

  get text(): string {
    return this.lines.join('\n');
  }

  /** Whether any character of the screen has a color. */
  get hasColor(): boolean {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)).some((line) =>
      Array.from({ length: this.#terminal.cols }, (_, column) => line?.getCell(column)?.isFgDefault()).includes(false),
    );
  }

  /** Waits until the screen shows something. Fails, with the screen, if the command ends without having shown it. */
  async shows(what: RegExp): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        const { text } = this;
        if (what.test(text)) resolve();
        else if (ENDED.test(text)) reject(new Error(`The command ended without showing ${what}:\n${text}`));
        else return;
        watch.dispose();
      };
      const watch = this.#terminal.onWriteParsed(look);
      look();
    });
  }

  /** Waits for the end of the command. Returns its exit code. */
  async ends(): Promise<number> {
    await this.shows(ENDED);
    return Number(ENDED.exec(this.text)?.[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pty.kill();
    await this.#closed;
    this.#terminal.dispose();
  }
}
