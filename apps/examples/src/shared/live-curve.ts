import { barChart } from './bar-chart.js';
import { isTerminal, paint, terminalHeight, terminalWidth } from './terminal.js';

/** Lines of the chart, if the screen has room for them. */
const HEIGHT = 8;

/** Options of a {@link LiveCurve}. */
export interface LiveCurveOptions {
  /** The name of the values, such as `loss`. */
  readonly name: string;
  readonly totalSteps: number;
  /** Ends the drawing. Later values are kept, but not drawn. */
  readonly signal: AbortSignal;
  /** Text to print when the signal is aborted. Default none. */
  readonly noteAtAbort?: (() => string) | undefined;
  /** The values of earlier steps, if a run continues from a checkpoint. Default none. */
  readonly earlier?: readonly number[] | undefined;
  /** Without a terminal: print a line for the first step, the last step and every `printEvery` steps. Default 5. */
  readonly printEvery?: number | undefined;
}

/** A curve that grows during a run: redrawn in place on a terminal, an occasional line in a file or pipe. */
export class LiveCurve {
  readonly values: number[];
  readonly #options: LiveCurveOptions;
  #newestLine = '';
  #drawnLines = 0;

  constructor(options: LiveCurveOptions) {
    this.#options = options;
    this.values = [...(options.earlier ?? [])];
    options.signal.addEventListener('abort', this.#end, { once: true });
  }

  /** Adds the value of the next step, with a note to print after it. */
  add(value: number, note = ''): void {
    this.values.push(value);
    const { name, totalSteps, signal, earlier = [], printEvery = 5 } = this.#options;
    if (signal.aborted) return;
    const step = this.values.length;
    this.#newestLine = `step ${String(step).padStart(String(totalSteps).length)}/${totalSteps}  ${name} ${value.toFixed(3)}${note === '' ? '' : `  ${note}`}`;
    if (isTerminal) this.#redraw();
    else if (step === earlier.length + 1 || step === totalSteps || step % printEvery === 0) console.log(this.#newestLine);
    if (step === totalSteps) signal.removeEventListener('abort', this.#end);
  }

  readonly #end = (): void => {
    // The terminal prints ^C at the cursor, maybe inside the chart, so the chart is drawn once more.
    if (this.#drawnLines > 0) this.#redraw();
    const note = this.#options.noteAtAbort?.();
    if (note !== undefined) console.log(`\n${note}`);
  };

  #redraw(): void {
    const width = Math.max(10, Math.min(terminalWidth() - 12, this.#options.totalSteps));
    const height = Math.max(1, Math.min(HEIGHT, terminalHeight() - 4)); // lines that have scrolled away cannot be redrawn
    const chart = barChart(this.values, { width, height }).map((row) => paint('green', row));
    const lines = [paint('bold', this.#newestLine.slice(0, terminalWidth() - 1)), ...chart];
    // The terminal may have echoed a key in the meantime, so the column is unknown.
    const back = this.#drawnLines === 0 ? '' : `\r\x1b[${this.#drawnLines}A`;
    process.stdout.write(`${back}${lines.map((text) => `\x1b[2K${text}\n`).join('')}`);
    this.#drawnLines = lines.length;
  }
}
