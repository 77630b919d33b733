import type { PriceTable, Usage } from '@tinkex/cookbook';
import type { BillingUsageResponse } from '@tinkex/types';
import type { CommandContext } from '../commands/command-context.js';
import { withAdmin } from './connect.js';
import { loadConfig } from './load-config.js';

/** What the session of a run has used lately, and what that costs. */
export interface RunCost {
  readonly trainTokens: number;
  readonly prefillTokens: number;
  readonly sampledTokens: number;
  /** Undefined without prices: neither yours nor the server's. */
  readonly usd: number | undefined;
}

const HOUR_MS = 3_600_000;
/** The longest time that one request may be about. */
const PERIOD_HOURS = 14 * 24;

/** The period of {@link readSessionCosts}, in words. */
export const COST_PERIOD = 'last 14 days';

/**
 * Reads what sessions have used in the last 14 days, in one request. Costs are tokens times the prices of the project's configuration, or without them what the
 * server estimates. Returns a function that finds the cost by the ID of a run: what a server bills, it bills by session.
 */
export async function readSessionCosts(context: CommandContext): Promise<(runId: string) => RunCost | undefined> {
  const loaded = await loadConfig(undefined);
  const endMs = Math.ceil((context.now().getTime() + 1) / HOUR_MS) * HOUR_MS;
  const usage = await withAdmin(context, (admin) =>
    admin.getBillingUsage(new Date(endMs - PERIOD_HOURS * HOUR_MS), new Date(endMs), { signal: context.signal }),
  );
  const costs = await sumBySession(usage, loaded?.config.prices);
  return (runId) => costs.get(runId.split(':')[0] ?? runId);
}

/** A cost as people read it. */
export function costText(cost: RunCost | undefined): string {
  if (cost === undefined) return '$0.00';
  return cost.usd === undefined ? 'N/A' : `$${cost.usd.toFixed(cost.usd < 1 ? 4 : 2)}`;
}

/** A cost in JSON. */
export function costJson(cost: RunCost | undefined): Readonly<Record<string, number | null>> {
  return {
    train_tokens: cost?.trainTokens ?? 0,
    prefill_tokens: cost?.prefillTokens ?? 0,
    sampled_tokens: cost?.sampledTokens ?? 0,
    cost_usd: cost === undefined ? 0 : (cost.usd ?? null),
  };
}

async function sumBySession({ data }: BillingUsageResponse, prices: PriceTable | undefined): Promise<Map<string, RunCost>> {
  const { costOf } = await import('@tinkex/cookbook');
  const sums = new Map<string, RunCost>();
  for (const { sessionId, eventInfo, estimatedCostUsd } of data) {
    const usage = usageOf(eventInfo);
    if (sessionId === undefined || usage === undefined) continue;
    const sum = sums.get(sessionId) ?? { trainTokens: 0, prefillTokens: 0, sampledTokens: 0, usd: 0 };
    const usd = prices === undefined ? estimatedCostUsd : costOf(usage, { prefill: 0, sample: 0, ...prices });
    sums.set(sessionId, {
      trainTokens: sum.trainTokens + (usage.trainTokens ?? 0),
      prefillTokens: sum.prefillTokens + (usage.prefillTokens ?? 0),
      sampledTokens: sum.sampledTokens + (usage.sampledTokens ?? 0),
      usd: sum.usd === undefined || usd === undefined ? undefined : sum.usd + usd,
    });
  }
  return sums;
}

function usageOf(info: BillingUsageResponse['data'][number]['eventInfo']): Usage | undefined {
  if (info.type === 'training') return { trainTokens: info.tokenCount };
  if (info.type === 'sampling_prefill') return { prefillTokens: info.tokenCount };
  return info.type === 'sampling_sample' ? { sampledTokens: info.tokenCount } : undefined;
}
