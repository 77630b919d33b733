import type { Message, Renderer } from '@tinkex/renderers';
import type { CommandContext } from '../commands/command-context.js';
import { openRenderer, type RendererFlags, readChatTemplate } from '../config/open-renderer.js';
import { failedVerdict, type Verdict } from './verdict.js';

const TEXT = 'The quick brown fox; naïve café, 日本.';
const CONVERSATION: readonly Message[] = [
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: TEXT },
  { role: 'user', content: 'Again, please.' },
];

/** Whether text survives the tokenizer, whether the renderer works with it, and whether it writes what the chat template of the model writes. */
export async function checkModelText(context: CommandContext, flags: RendererFlags): Promise<Verdict[]> {
  let renderer: Renderer;
  try {
    renderer = await openRenderer(context, flags);
  } catch (error) {
    return [await failedVerdict('Tokenizer', error, 'Pass --tokenizer FOLDER, or check the network.')];
  }
  const { tokenizer } = renderer;
  const isWhole = tokenizer.decode(tokenizer.encode(TEXT)) === TEXT;
  const cure = 'The tokenizer does not fit the model: pass --tokenizer FOLDER with its own tokenizer.json.';
  const verdict: Verdict = { check: 'Tokenizer', isOk: isWhole, detail: isWhole ? 'text survives it' : 'text does not survive it', cure };
  return [verdict, await checkRenderer(renderer, flags)];
}

async function checkRenderer(renderer: Renderer, { tokenizer: folder }: RendererFlags): Promise<Verdict> {
  const check = 'Renderer';
  try {
    const prompt = renderer.buildGenerationPrompt(CONVERSATION).toInts();
    const chatTemplate = folder === undefined ? undefined : await readChatTemplate(folder);
    if (chatTemplate === undefined) {
      const why = folder === undefined ? 'without --tokenizer FOLDER' : 'the folder has none';
      return { check, isOk: true, detail: `${renderer.name}; not compared with a chat template: ${why}` };
    }
    const { templateRenderer } = await import('@tinkex/renderers/templates');
    const { tokenizer } = renderer;
    const end = tokenizer.decode([tokenizer.eosTokenId ?? 0]);
    const expected = templateRenderer({ chatTemplate, tokenizer, stopTokens: [end] })
      .buildGenerationPrompt(CONVERSATION)
      .toInts();
    const at = expected.findIndex((token, index) => token !== prompt[index]);
    if (at < 0 && expected.length === prompt.length)
      return { check, isOk: true, detail: `${renderer.name} writes what the chat template writes` };
    const place = at < 0 ? Math.min(expected.length, prompt.length) : at;
    const shown = (tokens: Int32Array): string => JSON.stringify(tokenizer.decode(tokens.slice(place, place + 8)));
    return {
      check,
      isOk: false,
      detail: `${renderer.name} differs from the chat template at token ${place}: ${shown(prompt)} instead of ${shown(expected)}`,
      cure: 'Choose the renderer that the model was trained with: --renderer NAME.',
    };
  } catch (error) {
    return await failedVerdict(check, error, 'Choose another renderer with --renderer NAME.');
  }
}
