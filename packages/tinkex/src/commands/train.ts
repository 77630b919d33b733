import { resolve } from 'node:path';
import type { Command } from 'commander';
import { checkedConfig, type LoadedConfig, loadConfig } from '../config/load-config.js';
import type { ProjectConfig } from '../config/project-config.js';
import { wrongUsage } from '../output/command-failure.js';
import { countOf, numberOf, positiveCountOf, repeated } from './arguments.js';
import { type ProcessContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';
import { runRecipe } from './run-recipe.js';

interface TrainFlags {
  readonly config?: string | undefined;
  readonly model?: string | undefined;
  readonly data?: readonly string[] | undefined;
  readonly logPath?: string | undefined;
  readonly learningRate?: number | undefined;
  readonly numEpochs?: number | undefined;
  readonly batchSize?: number | undefined;
  readonly loraRank?: number | undefined;
  readonly maxSteps?: number | undefined;
  readonly saveEvery?: number | undefined;
  readonly maxTokens?: number | undefined;
}

type Recipe = ProjectConfig['recipe'];

const DESCRIPTIONS: Readonly<Record<Recipe, string>> = {
  sft: 'Supervised training on conversations.',
  rl: 'Reinforcement learning on questions whose answers can be checked.',
  dpo: 'Training on preferences.',
};

/** `tinkex train sft`, `rl` and `dpo` */
export const register: RegisterCommand = (train, process) => {
  train.addHelpText('after', examples(['init', 'writes the configuration'], ['train sft', 'trains'], ['chat', 'talks to the result']));
  for (const recipe of Object.keys(DESCRIPTIONS) as Recipe[]) registerRecipe(train, process, recipe);
};

function registerRecipe(train: Command, process: ProcessContext, recipe: Recipe): void {
  const command = train
    .command(recipe)
    .description(DESCRIPTIONS[recipe])
    .option('--config <file>', 'default: tinkex.config.ts, .js or .json of this folder or one above')
    .option('--model <name>', 'the base model')
    .option('--data <file>', 'a JSONL file; repeat it for more', repeated)
    .option('--log-path <folder>', 'the run folder')
    .option('--learning-rate <rate>', 'instead of the one from the table of models', numberOf)
    .option('--num-epochs <count>', 'passes over the data', positiveCountOf)
    .option('--lora-rank <rank>', 'size of the adapter', positiveCountOf)
    .option('--max-steps <count>', 'stop after this many steps', positiveCountOf)
    .option('--save-every <steps>', 'steps between saves', countOf)
    .addHelpText('after', examples([`train ${recipe}`, 'what the configuration says'], [`train ${recipe} --max-steps 10`, 'a short run']));
  if (recipe === 'rl') command.option('--max-tokens <count>', 'the most tokens of an answer', positiveCountOf);
  else command.option('--batch-size <count>', 'examples per step', positiveCountOf);
  command.action(
    runWith<TrainFlags>(process, async (context, flags) => {
      await runRecipe(context, await mergedConfig(recipe, flags));
    }),
  );
}

/** The configuration with what the flags say instead. Paths of flags start from here, those of the file from its folder. */
async function mergedConfig(recipe: Recipe, flags: TrainFlags): Promise<LoadedConfig> {
  const { config: file, data, logPath, ...others } = flags;
  const loaded = await loadConfig(file);
  if (loaded !== undefined && loaded.config.recipe !== recipe) {
    throw wrongUsage(
      `The configuration is for ${loaded.config.recipe}, not for ${recipe}`,
      `Run \`tinkex train ${loaded.config.recipe}\`, or pass --config.`,
    );
  }
  if (loaded === undefined && (flags.model === undefined || data === undefined)) {
    throw wrongUsage('There is no configuration here', 'Run `tinkex init`, or pass --model and --data.');
  }
  const own = Object.fromEntries(
    ['model', 'learningRate', 'numEpochs', 'batchSize', 'loraRank', 'maxSteps', 'saveEvery', 'maxTokens'].flatMap((name) => {
      const value = others[name as keyof typeof others];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const paths = {
    ...(data !== undefined && { data: recipe === 'dpo' ? resolve(data[0] ?? '') : data.map((path) => resolve(path)) }),
    ...(logPath !== undefined && { logPath: resolve(logPath) }),
  };
  const merged = { recipe, logPath: 'runs/first', ...loaded?.config, ...own, ...paths };
  return { config: await checkedConfig(merged, file ?? 'The configuration'), folder: loaded?.folder ?? process.cwd() };
}
