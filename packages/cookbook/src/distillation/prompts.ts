import type { Message } from '@tinkex/renderers';
import type { EnvGroup } from '../rl/environments/env.js';

/** A prompt to answer without a reward: what the student writes is compared with what the teacher would. */
export function promptGroup(
  prompt: string | readonly Message[],
  { tags }: { readonly tags?: readonly string[] | undefined } = {},
): EnvGroup {
  const messages: readonly Message[] = typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt;
  return {
    tags,
    makeEnvs: ({ renderer, groupSize }) =>
      Array.from({ length: groupSize }, () => ({
        initialObservation: () => ({ prompt: renderer.buildGenerationPrompt(messages), stop: renderer.getStopSequences() }),
        step: () => ({ reward: 0, episodeDone: true }),
      })),
  };
}
