import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BenchmarkResult } from '../measure/run-benchmark.js';
import { chart } from './chart.js';
import { page } from './page.js';

/** Where something was measured. */
export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly pythonSdk: string;
}

/** A kept result. Each has its own machine and date, because a part of the benchmarks may be run again. */
export interface KeptResult extends BenchmarkResult {
  readonly machine: Machine;
  readonly measuredAt: string;
}

/** The results in a file, updated with those of this run. Written after each benchmark: an interrupted run keeps what it has. */
export class Results {
  readonly #path: string;
  readonly #order: readonly string[];
  readonly #benchmarks: Map<string, KeptResult>;

  /** @param path - Without extension: `.json`, `.md` and `.svg` are written. @param order - All IDs, in the order of the report. */
  constructor(path: string, order: readonly string[]) {
    this.#path = path;
    this.#order = order;
    const kept = existsSync(`${path}.json`)
      ? (JSON.parse(readFileSync(`${path}.json`, 'utf8')) as { benchmarks: KeptResult[] }).benchmarks
      : [];
    this.#benchmarks = new Map(kept.filter(({ id }) => order.includes(id)).map((result) => [result.id, result]));
    mkdirSync(dirname(path), { recursive: true });
  }

  add(result: BenchmarkResult, machine: Machine): void {
    this.#benchmarks.set(result.id, { ...result, machine, measuredAt: new Date().toISOString() });
    const benchmarks = this.#order.flatMap((id) => this.#benchmarks.get(id) ?? []);
    writeFileSync(`${this.#path}.json`, `${JSON.stringify({ benchmarks }, undefined, 2)}\n`);
    const subtitle = `Node ${machine.node}, ${machine.cores} cores; dot: median ratio, bar: interquartile range, tick: goal`;
    writeFileSync(`${this.#path}.svg`, chart(benchmarks, subtitle));
    writeFileSync(`${this.#path}.md`, page(benchmarks));
  }
}
