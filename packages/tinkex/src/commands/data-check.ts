import { measureData } from '../config/measure-data.js';
import type { RendererFlags } from '../config/open-renderer.js';
import { showRecord } from '../output/show-result.js';
import { positiveCountOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface DataCheckOptions extends RendererFlags {
  readonly maxLength?: number | undefined;
}

/** `tinkex data check` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('check')
    .argument('<file>', 'JSONL file of conversations')
    .description('Check that every line is a conversation that can be trained on, and measure them. Ends with 3 if not.')
    .requiredOption('--model <name>', 'the base model')
    .option('--renderer <name>', 'default: the one that the model was trained with')
    .option('--tokenizer <folder>', 'a folder with tokenizer.json; default: from a hub')
    .option('--max-length <tokens>', 'count conversations that are longer', positiveCountOf)
    .addHelpText('after', examples(['data check chats.jsonl --model tinkex/tiny', 'before you train']))
    .action(
      runWith<DataCheckOptions>(process, async (context, options, [file = '']) => {
        const report = await measureData(context, file, options);
        const count = (value: number): string => value.toLocaleString('en-US');
        await showRecord(context, {
          title: `${file} can be trained on`,
          properties: [
            ['Conversations', count(report.rows)],
            ['Tokens', count(report.tokens)],
            ['Longest', `${count(report.longestTokens)} tokens`],
            ['Too Long', count(report.truncatedRows)],
            ['Nothing To Learn', count(report.rowsWithoutTarget)],
          ],
          json: {
            file,
            conversations: report.rows,
            tokens: report.tokens,
            longest_tokens: report.longestTokens,
            too_long: report.truncatedRows,
            without_target: report.rowsWithoutTarget,
          },
        });
      }),
    );
};
