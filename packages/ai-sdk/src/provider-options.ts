import { InvalidArgumentError, type SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ReasoningEffort } from '@tinkex/gateway';

/** What a call may pass as `providerOptions.tinkex`. */
export interface TinkexCallOptions {
  /** How hard the model thinks, where its family has renderers for it. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** How the answer begins. */
  readonly prefill?: string | undefined;
  /** Returns the sampled tokens and their log-probabilities in `providerMetadata.tinkex`. Default false. */
  readonly returnTokens?: boolean | undefined;
}

const EFFORTS: readonly unknown[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] satisfies ReasoningEffort[];

const CHECKS: { readonly [Name in keyof TinkexCallOptions]-?: readonly [(value: unknown) => boolean, string] } = {
  reasoningEffort: [(value) => EFFORTS.includes(value), EFFORTS.join(', ')],
  prefill: [(value) => typeof value === 'string', 'a text'],
  returnTokens: [(value) => typeof value === 'boolean', 'true or false'],
};

/** Reads the options of this provider. Throws an `InvalidArgumentError` for an option that does not exist or has a wrong value. */
export function readProviderOptions(options: SharedV3ProviderOptions | undefined): TinkexCallOptions {
  const own = options?.['tinkex'] ?? {};
  for (const [name, value] of Object.entries(own)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof TinkexCallOptions] : undefined;
    if (check === undefined) throw invalid(name, `does not exist; the options are ${Object.keys(CHECKS).join(', ')}`);
    if (value !== undefined && !check[0](value)) throw invalid(name, `must be ${check[1]}`);
  }
  return own as TinkexCallOptions;
}

function invalid(name: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError({ argument: `providerOptions.tinkex.${name}`, message: `providerOptions.tinkex.${name} ${problem}.` });
}
