import { barChart } from './loss-chart.js';
import { isTerminal, paint, terminalHeight, terminalWidth } from './terminal.js';

/** Of the chart, where the screen has room for it and a few lines more. */
const HEIGHT = 8;

/** Options of a {@link LiveCurve}. */
export interface LiveCurveOptions {
  /** What the numbers are, such as `loss`. */
  readonly name: string;
  readonly totalSteps: number;
  /** Ends the drawing: values that still come are only kept. */
  readonly signal: AbortSignal;
  /** What to say then. Default nothing. */
  readonly noteAtAbort?: () => string;
  /** The values of earlier steps. Default none; some when a run goes on from a checkpoint. */
  readonly earlier?: readonly number[];
  /** Without a terminal, a line is printed for the first, the last and every so many steps. Default 5. */
  readonly printEvery?: number;
}

/** A curve that grows while a run goes on: redrawn in place on a terminal, a line now and then in a file or pipe. */
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

  /** Adds the value of the next step, with a note to print behind it. */
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
    // The terminal shows ^C wherever the cursor was, even amid the chart: whatever is there, it is drawn whole once more.
    if (this.#drawnLines > 0) this.#redraw();
    const note = this.#options.noteAtAbort?.();
    if (note !== undefined) console.log(`\n${note}`);
  };

  #redraw(): void {
    const width = Math.max(10, Math.min(terminalWidth() - 12, this.#options.totalSteps));
    const height = Math.max(1, Math.min(HEIGHT, terminalHeight() - 4)); // what has scrolled away cannot be redrawn
    const chart = barChart(this.values, { width, height }).map((row) => paint('green', row));
    const lines = [paint('bold', this.#newestLine.slice(0, terminalWidth() - 1)), ...chart];
    // The terminal may have echoed a key since, so the column is not known.
    const back = this.#drawnLines === 0 ? '' : `\r\x1b[${this.#drawnLines}A`;
    process.stdout.write(`${back}${lines.map((text) => `\x1b[2K${text}\n`).join('')}`);
    this.#drawnLines = lines.length;
  }
}
