import type { Terminal } from './terminal.js';

const BAR_WIDTH = 20;
const REDRAW_MS = 100;

/** The metric of each recipe that says how well it goes. */
const SHOWN_METRICS = [
  ['train_mean_nll', 'loss'],
  ['env/all/reward/total', 'reward'],
  ['dpo_loss', 'loss'],
  ['test/nll', 'test loss'],
] as const;

/** The progress of a training run: one line that is redrawn on a terminal, one line per step elsewhere. */
export class TrainingProgress implements Disposable {
  readonly #terminal: Terminal;
  readonly #isShown: boolean;
  readonly #startedAtMs = performance.now();
  #firstStep: number | undefined;
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(terminal: Terminal, isShown: boolean) {
    this.#terminal = terminal;
    this.#isShown = isShown;
  }

  /** Shows a step that is done. */
  update(step: number, metrics: Readonly<Record<string, unknown>>): void {
    if (!this.#isShown) return;
    this.#firstStep ??= step;
    const total = totalSteps(step, metrics);
    const { noteStyle: style } = this.#terminal;
    const parts = [
      style.bold(`step ${step + 1}${total === undefined ? '' : `/${total}`}`),
      ...SHOWN_METRICS.flatMap(([name, label]) => (typeof metrics[name] === 'number' ? [`${label} ${metrics[name].toPrecision(4)}`] : [])),
    ];
    if (!this.#terminal.isNoteTty) {
      this.#terminal.note(parts.join('  '));
      return;
    }
    const nowMs = performance.now();
    if (nowMs - this.#drawnAtMs < REDRAW_MS && step + 1 !== total) return;
    this.#drawnAtMs = nowMs;
    this.#isDrawn = true;
    const left = total === undefined ? '' : this.#timeLeft(step, total, nowMs);
    const filled = total === undefined ? 0 : Math.round(((step + 1) / total) * BAR_WIDTH);
    const bar = `${style.cyan('━'.repeat(filled))}${style.dim('─'.repeat(BAR_WIDTH - filled))}`;
    this.#terminal.writeNote(`\r\u001b[2K${bar} ${parts.join('  ')}${left}`);
  }

  #timeLeft(step: number, total: number, nowMs: number): string {
    const done = step + 1 - (this.#firstStep ?? 0);
    const seconds = Math.round((((nowMs - this.#startedAtMs) / done) * (total - step - 1)) / 1000);
    return `  ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
  }

  [Symbol.dispose](): void {
    if (this.#isDrawn) this.#terminal.writeNote('\n');
  }
}

/** The steps of the whole run, by the share of it that is done. Reinforcement learning and the others name that share differently; DPO does not count this step. */
function totalSteps(step: number, metrics: Readonly<Record<string, unknown>>): number | undefined {
  const share = metrics['progress'] ?? metrics['progress/done_frac'];
  if (typeof share !== 'number' || share <= 0) return undefined;
  return Math.round(('num_pairs' in metrics ? step : step + 1) / share);
}
