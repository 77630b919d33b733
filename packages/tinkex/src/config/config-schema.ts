import { z } from 'zod';
import type { ProjectConfig } from './project-config.js';

const count = z.int().min(1);
const countFromZero = z.int().min(0);
const positive = z.number().positive();
const files = z.union([z.string(), z.array(z.string()).min(1)]);
const lrSchedule = z.enum(['linear', 'constant', 'cosine']);

const shared = {
  $schema: z.string().optional(),
  model: z.string().min(1).describe('The base model, such as Qwen/Qwen3-8B, or tinkex/tiny of the embedded engine.'),
  logPath: z.string().min(1).describe('The run folder. A run that is there already continues.'),
  baseUrl: z.url().optional().describe('The server. --base-url and TINKER_BASE_URL win over it.'),
  rendererName: z.string().optional().describe('Default: the renderer that the model was trained with.'),
  learningRate: z
    .union([positive, z.literal('auto')])
    .optional()
    .describe('Default: from the table of models.'),
  loraRank: count.optional(),
  numEpochs: count.optional(),
  evalEvery: countFromZero.optional().describe('Steps between evaluations; 0 for none.'),
  saveEvery: countFromZero.optional().describe('Steps between saves; 0 for none but the last.'),
  maxSteps: count.optional(),
  maxSeconds: positive.optional(),
  maxCostUsd: positive.optional().describe('Needs prices.'),
  prices: z
    .strictObject({ train: z.number().min(0), prefill: z.number().min(0).optional(), sample: z.number().min(0).optional() })
    .optional()
    .describe('US dollars per million tokens of your model.'),
  loadCheckpointPath: z.string().startsWith('tinker://').optional().describe('Weights to start from.'),
};

const trainOnWhat = z.enum([
  'last_assistant_message',
  'last_assistant_turn',
  'all_assistant_messages',
  'all_messages',
  'all_tokens',
  'all_user_and_system_messages',
  'customized',
]);

const sft = z.strictObject({
  recipe: z.literal('sft'),
  ...shared,
  data: files.describe("JSONL files of conversations: OpenAI's chat format, ShareGPT's or Alpaca's."),
  testSize: countFromZero.optional().describe('Conversations kept for evaluation.'),
  batchSize: count.optional(),
  lrSchedule: lrSchedule.optional(),
  maxLength: count.optional(),
  tooLong: z.enum(['truncate', 'drop', 'refuse']).optional(),
  trainOnWhat: trainOnWhat.optional(),
});

const GRADES = z.enum(['exact', 'math']);
const gradeFunction = z.custom<(text: string, expected: string) => number>((value) => typeof value === 'function');

const rlFields = {
  recipe: z.literal('rl'),
  ...shared,
  data: files.describe('JSONL files with one {"question", "answer"} per line.'),
  maxTokens: count.describe('The most tokens of an answer.'),
  groupsPerBatch: count.optional(),
  groupSize: count.optional(),
  temperature: positive.optional(),
  formatCoefficient: z.number().min(0).optional().describe('What a wrong form takes from the reward.'),
};

const dpo = z.strictObject({
  recipe: z.literal('dpo'),
  ...shared,
  data: z.string().describe('A JSONL file of comparisons.'),
  batchSize: count.optional(),
  dpoBeta: positive.optional(),
  lrSchedule: lrSchedule.optional(),
  maxLength: count.optional(),
});

const describedGrade = <T extends z.ZodType>(type: T) =>
  type.optional().describe('exact compares texts, math the \\boxed{…} of the answer.');

const configSchema = z.discriminatedUnion('recipe', [
  sft,
  z.strictObject({ ...rlFields, grade: describedGrade(z.union([GRADES, gradeFunction])) }),
  dpo,
]);

/** A place in a configuration and what is wrong there. */
export interface ConfigIssue {
  readonly path: string;
  readonly message: string;
}

/** The configuration, or everything that is wrong with it. */
export function checkConfig(value: unknown): { readonly config: ProjectConfig } | { readonly issues: readonly ConfigIssue[] } {
  const result = configSchema.safeParse(value);
  if (result.success) return { config: result.data as ProjectConfig };
  return { issues: result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) };
}

/** The names that a configuration of a recipe may have. */
export function configNames(recipe: unknown): readonly string[] {
  const fields = { sft: sft.shape, rl: { ...rlFields, grade: undefined }, dpo: dpo.shape };
  return typeof recipe === 'string' && Object.hasOwn(fields, recipe) ? Object.keys(fields[recipe as keyof typeof fields]) : [];
}

/** The JSON schema of `tinkex.config.json`, for editors. */
export function jsonSchema(): object {
  const inJson = z.discriminatedUnion('recipe', [sft, z.strictObject({ ...rlFields, grade: describedGrade(GRADES) }), dpo]);
  return { title: 'Configuration of tinkex', ...z.toJSONSchema(inJson, { io: 'input' }) };
}
