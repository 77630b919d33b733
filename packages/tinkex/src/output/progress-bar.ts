import { formatSize } from './format-size.js';
import type { Terminal } from './terminal.js';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;

/** How far something has come. */
export interface Progress {
  readonly done: number;
  /** Unset while it is unknown. */
  readonly total?: number | undefined;
  /** What is under way. */
  readonly label?: string | undefined;
}

/** A progress bar on stderr. Only terminals see it, and it is gone when it ends. */
export class ProgressBar implements Disposable {
  readonly #terminal: Terminal;
  readonly #format: (value: number) => string;
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  /** @param isShown - False in JSON, where a program reads. */
  constructor(terminal: Terminal, options: { readonly isShown: boolean; readonly format?: (value: number) => string }) {
    this.#terminal = terminal;
    this.#format = options.format ?? formatSize;
    if (!options.isShown || !terminal.isNoteTty) this.update = () => undefined;
  }

  /** Draws the bar, at most ten times per second. */
  update(progress: Progress): void {
    const nowMs = performance.now();
    if (nowMs - this.#drawnAtMs < REDRAW_MS) return;
    this.#drawnAtMs = nowMs;
    this.#isDrawn = true;
    this.#terminal.writeNote(`\r\u001b[2K${this.#line(progress)}`);
  }

  #line({ done, total, label = '' }: Progress): string {
    const { noteStyle, noteColumns } = this.#terminal;
    const room = Math.max(0, noteColumns - BAR_WIDTH - 32);
    const name = label.length > room ? `${label.slice(0, Math.max(0, room - 1))}…` : label;
    if (total === undefined || total <= 0) return `${noteStyle.cyan('…')} ${this.#format(done)} ${noteStyle.dim(name)}`;
    const share = Math.min(1, done / total);
    const filled = Math.round(share * BAR_WIDTH);
    const bar = `${noteStyle.cyan('━'.repeat(filled))}${noteStyle.dim('─'.repeat(BAR_WIDTH - filled))}`;
    return `${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${this.#format(done)} of ${this.#format(total)}  ${noteStyle.dim(name)}`;
  }

  [Symbol.dispose](): void {
    if (this.#isDrawn) this.#terminal.writeNote('\r\u001b[2K');
  }
}
