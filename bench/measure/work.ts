import type { CannedServer } from '../server/start-server.js';
import type { Measurements } from './program.js';

/** Runs a task in a fresh process with the Python SDK. */
export type RunPython = (task: object) => Promise<Measurements>;

/** The Rust encoder and the Rust renderers, called from Python; undefined where they cannot be run. */
export interface PythonRenderers {
  readonly tokenizers?: RunPython | undefined;
  readonly native?: RunPython | undefined;
}

/** What every work gets. */
export interface Bench {
  readonly server: CannedServer;
  /** A first impression in seconds instead of the whole truth in minutes. */
  readonly isQuick: boolean;
  /** Undefined where the Python SDK cannot be run. */
  readonly python: RunPython | undefined;
  readonly renderers: PythonRenderers;
}

/** One who does the work, once, in a fresh process. */
export interface Contender {
  readonly name: string;
  readonly run: () => Promise<Measurements>;
}

/** One number of interest: a ratio between two contenders, or a contender's own value where there is nobody to compare with. */
export interface Comparison {
  readonly metric: string;
  readonly of: string;
  readonly against?: string;
  /** What the ratio (or value) should be. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
  /** `difference` subtracts instead of dividing. `ratio`, with nobody to compare with: the contender took the ratio itself. */
  readonly as?: 'ratio' | 'difference';
}

/** Something to be measured: contenders who do the same, and what to look at. */
export interface Work {
  readonly id: string;
  readonly title: string;
  readonly contenders: Readonly<Record<string, Contender>>;
  readonly comparisons: readonly Comparison[];
  /** Before the first round, and again before each: the server is shared with the works before. */
  readonly prepare?: () => Promise<void>;
  /** At most so many rounds, where one takes minutes. */
  readonly maxRounds?: number;
}
