import type { CannedServer } from '../server/start-server.js';
import type { Measurements } from './program.js';

/** Runs a task in a fresh process with the Python SDK. */
export type RunPython = (task: object) => Promise<Measurements>;

/** The Rust encoder and the Rust renderers, called from Python; undefined where they are not available. */
export interface PythonRenderers {
  readonly tokenizers?: RunPython | undefined;
  readonly native?: RunPython | undefined;
}

/** What every suite gets. */
export interface Bench {
  readonly server: CannedServer;
  /** Short loads: seconds instead of minutes. */
  readonly isQuick: boolean;
  /** Only the few benchmarks that give a first impression of everything. */
  readonly isSurvey: boolean;
  /** Undefined if the Python SDK cannot run. */
  readonly python: RunPython | undefined;
  readonly renderers: PythonRenderers;
  /** A supervised loop of the Python cookbook; undefined if it cannot run. */
  readonly pythonCookbook: RunPython | undefined;
  /** The recall model in PyTorch; undefined without `--torch`. */
  readonly torch: RunPython | undefined;
  /** The program of a browser; undefined if none was found. */
  readonly browser: string | undefined;
}

/** A program that performs the task once, in a fresh process. */
export interface Contender {
  readonly name: string;
  readonly run: () => Promise<Measurements>;
}

/** One number of interest: a ratio between two contenders, or the value of one contender if there is nothing to compare it with. */
export interface Comparison {
  readonly metric: string;
  readonly of: string;
  readonly against?: string | undefined;
  /** What the ratio (or value) should be. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number } | undefined;
  /** `difference` subtracts instead of dividing. `ratio`, without `against`: the contender measured the ratio itself. */
  readonly as?: 'ratio' | 'difference' | undefined;
}

/** Contenders that perform the same task, and the numbers to compare. */
export interface Benchmark {
  readonly id: string;
  readonly title: string;
  readonly contenders: Readonly<Record<string, Contender>>;
  readonly comparisons: readonly Comparison[];
  /** Runs before each contender: all benchmarks share one server. */
  readonly prepare?: () => Promise<void>;
  /** Limits the rounds of a benchmark that takes minutes. */
  readonly maxRounds?: number | undefined;
}
