import { measureData } from '../config/measure-data.js';
import type { RendererFlags } from '../config/open-renderer.js';
import { showRecord } from '../output/show-result.js';
import { numberOf, positiveCountOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface CostOptions extends RendererFlags {
  readonly numEpochs: number;
  readonly price?: number | undefined;
}

/** `tinkex cost estimate` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('estimate')
    .argument('<file>', 'JSONL file of conversations')
    .description('Count the tokens that supervised training would take, and what they cost at your price. Spends nothing.')
    .requiredOption('--model <name>', 'the base model')
    .option('--num-epochs <count>', 'passes over the data', positiveCountOf, 1)
    .option('--price <usd>', 'US dollars per million tokens of training; without it only tokens are counted', numberOf)
    .option('--renderer <name>', 'default: the one that the model was trained with')
    .option('--tokenizer <folder>', 'a folder with tokenizer.json; default: from a hub')
    .addHelpText(
      'after',
      examples(['cost estimate chats.jsonl --model Qwen/Qwen3-8B --price 0.4 --num-epochs 3', 'before anything is spent']),
    )
    .action(
      runWith<CostOptions>(process, async (context, options, [file = '']) => {
        const { costOf } = await import('@tinkex/cookbook');
        const { numEpochs, price, model } = options;
        const { rows, tokens } = await measureData(context, file, options);
        const trainTokens = tokens * numEpochs;
        const usd = price === undefined ? undefined : costOf({ trainTokens }, { train: price });
        await showRecord(context, {
          title: 'Estimate, without evaluations',
          properties: [
            ['Model', model],
            ['Conversations', rows.toLocaleString('en-US')],
            ['Tokens per Epoch', tokens.toLocaleString('en-US')],
            ['Epochs', String(numEpochs)],
            ['Tokens in All', trainTokens.toLocaleString('en-US')],
            ['Cost', usd === undefined ? 'unknown; pass --price' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`],
          ],
          json: { model, conversations: rows, epoch_tokens: tokens, epochs: numEpochs, train_tokens: trainTokens, cost_usd: usd ?? null },
        });
      }),
    );
};
