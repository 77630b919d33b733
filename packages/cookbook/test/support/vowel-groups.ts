import type { Env, EnvGroup, EnvStep } from '@tinkex/cookbook';
import { ByteTokenizer, ModelInput } from '@tinkex/types';

const tokenizer = new ByteTokenizer();
const isVowel = (token: number) => 'aeiou'.includes(String.fromCharCode(token));

/** An episode of one or two turns that rewards vowels. */
export function vowelEnv(question: string, turns = 1): Env {
  let prompt = [...tokenizer.encode(question)];
  let turn = 0;
  const observation = () => ({ prompt: ModelInput.fromInts(prompt), stop: ['.'] });
  return {
    initialObservation: observation,
    step({ tokens }): EnvStep {
      const vowels = tokens.length === 0 ? 0 : tokens.filter(isVowel).length / tokens.length;
      prompt = [...prompt, ...tokens, ...tokenizer.encode('\n')];
      return { reward: vowels, episodeDone: ++turn >= turns, next: observation(), metrics: { vowels } };
    },
  };
}

/** Tasks tagged even and odd in turn, as in the recorded runs. */
export function vowelGroups(count: number, { turns = 1, onMake }: { turns?: number; onMake?: (index: number) => void } = {}): EnvGroup[] {
  return Array.from({ length: count }, (_, index) => ({
    tags: [index % 2 === 0 ? 'even' : 'odd'],
    makeEnvs({ groupSize }) {
      onMake?.(index);
      return Array.from({ length: groupSize }, () => vowelEnv(`vowels ${index % 10}:`, turns));
    },
  }));
}
