import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceClient } from '../../packages/clients/src/index.js';
import {
  comparisonsFromJsonl,
  conversationsFromJsonl,
  type EnvGroup,
  type EnvStep,
  type TrainingRun,
  trainDpo,
  trainRl,
  trainSupervised,
} from '../../packages/cookbook/src/index.js';
import type { TestServer } from '../../packages/testkit/src/index.js';
import { ByteTokenizer, ModelInput } from '../../packages/types/src/index.js';

/** The settings of a loop in either language. The names are those of the Python program. */
export interface LoopSettings {
  readonly loop: 'sft' | 'rl' | 'dpo';
  readonly file: string;
  readonly learning_rate: number;
  readonly lr_schedule: 'linear' | 'constant';
  readonly batch_size: number;
  readonly test_size: number;
  readonly num_epochs: number;
  readonly eval_every: number;
  readonly save_every: number;
  readonly max_steps?: number | undefined;
  readonly batches: number;
  readonly groups_per_batch: number;
  readonly group_size: number;
  readonly turns: number;
  readonly max_tokens: number;
  readonly loss_fn: 'importance_sampling' | 'ppo';
  readonly kl_penalty_coef: number;
}

const MODEL = 'tinkex/tiny';
const tokenizer = new ByteTokenizer();

/** Runs a loop of ours as the Python program runs its own. */
export async function trainOwn(server: TestServer, logPath: string, settings: LoopSettings): Promise<TrainingRun> {
  await using service = new ServiceClient(server.clientOptions);
  const shared = {
    service,
    model: MODEL,
    logPath,
    rendererName: 'role_colon',
    learningRate: settings.learning_rate,
    loraRank: 8,
    saveEvery: settings.save_every,
    evalEvery: settings.eval_every,
    numEpochs: settings.num_epochs,
    maxSteps: settings.max_steps,
  };
  if (settings.loop === 'sft') {
    const data = conversationsFromJsonl(settings.file, { testSize: settings.test_size });
    return await trainSupervised({ ...shared, data, batchSize: settings.batch_size, lrSchedule: settings.lr_schedule });
  }
  if (settings.loop === 'dpo') {
    return await trainDpo({ ...shared, data: await comparisonsFromJsonl(settings.file), batchSize: settings.batch_size });
  }
  return await trainRl({
    ...shared,
    dataset: Array.from({ length: settings.batches * settings.groups_per_batch }, (_, index) => vowelGroup(index, settings)),
    groupsPerBatch: settings.groups_per_batch,
    groupSize: settings.group_size,
    shuffle: false,
    maxTokens: settings.max_tokens,
    lossFn: settings.loss_fn,
    computePostKl: true,
    // The Python loop leaves the seed to the server.
    seed: null,
    ...(settings.kl_penalty_coef > 0 ? { klPenaltyCoef: settings.kl_penalty_coef, klReference: { baseModel: MODEL } } : {}),
  });
}

/** Conversations and comparisons to train on, the same for both. */
export async function writeData(folder: string): Promise<{ readonly conversations: string; readonly comparisons: string }> {
  const message = (role: string, content: string) => ({ role, content });
  const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const conversations = Array.from({ length: 23 }, (_, index) => ({
    messages: [
      ...(index % 3 === 0 ? [message('system', 'Be brief.')] : []),
      message('user', `What is ${index} + ${index % 7}?`),
      message('assistant', `${index + (index % 7)}`),
      ...(index % 4 === 0 ? [message('user', 'Sure?'), message('assistant', 'Yes, naïvely ✓')] : []),
    ],
  }));
  const comparisons = Array.from({ length: 8 }, (_, index) => ({
    comparison: {
      prompt_conversation: [message('user', `Say ${index}`)],
      completion_A: [message('assistant', `${index}!`)],
      completion_B: [message('assistant', `no, ${index}`)],
    },
    label: index % 3 === 0 ? 'B' : 'A',
  }));
  const paths = { conversations: join(folder, 'conversations.jsonl'), comparisons: join(folder, 'comparisons.jsonl') };
  await writeFile(paths.conversations, lines(conversations));
  await writeFile(paths.comparisons, lines(comparisons));
  return paths;
}

function vowelGroup(index: number, { turns }: LoopSettings): EnvGroup {
  return {
    tags: [index % 2 === 0 ? 'even' : 'odd'],
    makeEnvs: ({ groupSize }) =>
      Array.from({ length: groupSize }, () => {
        let tokens = tokenizer.encode(`vowels ${index % 10}:`);
        let turn = 0;
        const observation = () => ({ prompt: ModelInput.fromInts(tokens), stop: ['.'] });
        return {
          initialObservation: observation,
          step(action): EnvStep {
            const count = action.tokens.filter((token) => token < 256 && 'aeiou'.includes(String.fromCharCode(token))).length;
            const vowels = action.tokens.length === 0 ? 0 : count / action.tokens.length;
            tokens = [...tokens, ...action.tokens, 10];
            return { reward: vowels, episodeDone: ++turn >= turns, next: observation(), metrics: { vowels } };
          },
        };
      }),
  };
}
