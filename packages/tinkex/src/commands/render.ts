import type { TrainOnWhat } from '@tinkex/renderers';
import { openRenderer, type RendererFlags } from '../config/open-renderer.js';
import { showJson } from '../output/show-result.js';
import { countOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface RenderOptions extends RendererFlags {
  readonly limit: number;
  readonly trainOnWhat?: string | undefined;
}

/** `tinkex render` */
export const register: RegisterCommand = (command, process) => {
  command
    .argument('<file>', 'JSONL file of conversations')
    .requiredOption('--model <name>', 'the base model')
    .option('--renderer <name>', 'default: the one that the model was trained with')
    .option('--tokenizer <folder>', 'a folder with tokenizer.json; default: from a hub')
    .option('--train-on-what <mask>', 'default: all_assistant_messages')
    .option('--limit <count>', 'how many conversations to show; 0 shows all', countOf, 3)
    .addHelpText(
      'after',
      examples(
        ['render chats.jsonl --model tinkex/tiny', 'the first three'],
        ['render chats.jsonl --model Qwen/Qwen3-8B --limit 1', 'one'],
      ),
    )
    .action(
      runWith<RenderOptions>(process, async (context, options, [file = '']) => {
        const { terminal, format } = context;
        const { conversationsFromJsonl } = await import('@tinkex/cookbook');
        const { showExample } = await import('@tinkex/renderers');
        const { train } = await conversationsFromJsonl(file, { shuffleSeed: null }).load();
        const renderer = await openRenderer(context, options);
        const mask = (options.trainOnWhat ?? 'all_assistant_messages') as TrainOnWhat;
        const shown = options.limit === 0 ? train : train.slice(0, options.limit);
        const rendered = shown.map(({ messages }) => renderer.buildSupervisedExample(messages, mask));
        if (format === 'json') {
          const examplesJson = rendered.map(({ modelInput, weights }) => ({
            tokens: Array.from(modelInput.toInts()),
            weights: Array.from(weights),
          }));
          showJson(context, { renderer: renderer.name, examples: examplesJson });
          return;
        }
        for (const [index, example] of rendered.entries()) {
          terminal.print(terminal.style.bold(`Conversation ${index + 1} of ${train.length}`));
          terminal.print(`${showExample(example, renderer.tokenizer, { color: terminal.style.isColored })}\n`);
        }
      }),
    );
};
