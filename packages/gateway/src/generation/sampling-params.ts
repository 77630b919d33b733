import type { SamplingParams } from '@tinkex/types';

/** The settings that are given, so that they do not hide the defaults they are spread over. */
export function definedOnly(params: SamplingParams): SamplingParams {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}
