import { barChart } from './loss-chart.js';
import { isTerminal, paint, terminalWidth } from './terminal.js';

const HEIGHT = 8;

/** Options of a {@link LiveCurve}. */
export interface LiveCurveOptions {
  /** What the numbers are, such as `loss`. */
  readonly name: string;
  readonly totalSteps: number;
  /** The step that was done before the first value. Default 0; more when a run goes on from a checkpoint. */
  readonly startStep?: number;
  /** Without a terminal, a line is printed for the first, the last and every so many steps. Default 5. */
  readonly printEvery?: number;
}

/** A curve that grows while a run goes on: redrawn in place on a terminal, a line now and then in a file or pipe. */
export class LiveCurve {
  readonly values: number[] = [];
  readonly #options: LiveCurveOptions;
  #drawnLines = 0;

  constructor(options: LiveCurveOptions) {
    this.#options = options;
  }

  /** Adds the value of the next step, with a note to print behind it. */
  add(value: number, note = ''): void {
    this.values.push(value);
    const { name, totalSteps, startStep = 0, printEvery = 5 } = this.#options;
    const step = startStep + this.values.length;
    const line = `step ${String(step).padStart(String(totalSteps).length)}/${totalSteps}  ${name} ${value.toFixed(3)}${note === '' ? '' : `  ${note}`}`;
    if (isTerminal) this.#redraw(line);
    else if (this.values.length === 1 || step === totalSteps || step % printEvery === 0) console.log(line);
  }

  #redraw(line: string): void {
    const width = Math.max(10, Math.min(terminalWidth() - 12, this.#options.totalSteps));
    const chart = barChart(this.values, { width, height: HEIGHT }).map((row) => paint('green', row));
    const lines = [paint('bold', line.slice(0, terminalWidth() - 1)), ...chart];
    // The terminal may have echoed a key since, so the column is not known.
    const back = this.#drawnLines === 0 ? '' : `\r\x1b[${this.#drawnLines}A`;
    process.stdout.write(`${back}${lines.map((text) => `\x1b[2K${text}\n`).join('')}`);
    this.#drawnLines = lines.length;
  }
}
