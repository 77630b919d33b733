import { join } from 'node:path';
import { costOf, JsonlReader, type PriceTable, type RunWriter, type Usage } from '@tinkex/telemetry/runs';
import { ConfigurationError } from '@tinkex/types';

/** How much a run may cost. */
export interface SpendingLimits {
  /** In US dollars. Default: no limit. */
  readonly maxCostUsd?: number | undefined;
  /** Needed with `maxCostUsd`. */
  readonly prices?: PriceTable | undefined;
}

/** The file of a run folder with all that was spent. */
const FILE = 'spending.jsonl';

/**
 * What a run has spent. An amount is written to the run folder before the work is submitted, and is never taken back: a run that is killed and resumed
 * pays twice for the steps it repeats, and both count.
 */
export class Spending {
  readonly #limits: SpendingLimits;
  readonly #writer: RunWriter;
  #spentUsd: number;

  private constructor(limits: SpendingLimits, writer: RunWriter, spentUsd: number) {
    this.#limits = limits;
    this.#writer = writer;
    this.#spentUsd = spentUsd;
  }

  /** Reads what earlier processes have spent. */
  static async open(writer: RunWriter, limits: SpendingLimits): Promise<Spending> {
    const { records } = await new JsonlReader(join(writer.path, FILE)).readToEnd();
    return new Spending(
      limits,
      writer,
      records.reduce((sum, { usd }) => sum + (typeof usd === 'number' ? usd : 0), 0),
    );
  }

  /** In US dollars; 0 without `maxCostUsd`. */
  get spentUsd(): number {
    return this.#spentUsd;
  }

  /** Takes the cost of a usage from the budget. False, and nothing is taken, if it does not fit. */
  async reserve(purpose: string, usage: Usage): Promise<boolean> {
    const { maxCostUsd, prices } = this.#limits;
    if (maxCostUsd === undefined || prices === undefined) return true;
    const usd = costOf(usage, prices);
    if (this.#spentUsd + usd > maxCostUsd) return false;
    this.#spentUsd += usd;
    await this.#writer.append(FILE, { purpose, usd, ...usage });
    return true;
  }
}

/** @throws ConfigurationError when the limits cannot be kept. */
export function checkSpendingLimits({ maxCostUsd, prices }: SpendingLimits): void {
  if (maxCostUsd === undefined) return;
  if (!(maxCostUsd > 0)) throw new ConfigurationError({ option: 'maxCostUsd', message: `maxCostUsd must be above 0; got ${maxCostUsd}.` });
  if (prices !== undefined) return;
  throw new ConfigurationError({
    option: 'prices',
    message: 'maxCostUsd needs prices, the US dollars per million tokens of your model: prices: { train, prefill, sample }.',
  });
}
