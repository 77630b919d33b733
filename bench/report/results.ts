import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { WorkResult } from '../measure/in-turns.js';
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

/** One work as it is kept: each knows where and when it was measured, because a part may be measured anew. */
export interface KeptResult extends WorkResult {
  readonly machine: Machine;
  readonly measuredAt: string;
}

/** The results of earlier works in a file, and those of this run, by id. Written after each work: a run that is stopped keeps what it has. */
export class Results {
  readonly #path: string;
  readonly #order: readonly string[];
  readonly #works: Map<string, KeptResult>;

  /** @param path - Without its ending: `.json`, `.md` and `.svg` are written. @param order - All ids, in the order of the report. */
  constructor(path: string, order: readonly string[]) {
    this.#path = path;
    this.#order = order;
    const kept = existsSync(`${path}.json`) ? (JSON.parse(readFileSync(`${path}.json`, 'utf8')) as { works: KeptResult[] }).works : [];
    this.#works = new Map(kept.filter(({ id }) => order.includes(id)).map((work) => [work.id, work]));
    mkdirSync(dirname(path), { recursive: true });
  }

  add(result: WorkResult, machine: Machine): void {
    this.#works.set(result.id, { ...result, machine, measuredAt: new Date().toISOString() });
    const works = this.#order.flatMap((id) => this.#works.get(id) ?? []);
    writeFileSync(`${this.#path}.json`, `${JSON.stringify({ works }, undefined, 2)}\n`);
    const subtitle = `Node ${machine.node}, ${machine.cores} cores; the dot is the median, the bar the middle half of the rounds, the tick the goal`;
    writeFileSync(`${this.#path}.svg`, chart(works, subtitle));
    writeFileSync(`${this.#path}.md`, page(works));
  }
}
