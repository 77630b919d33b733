import type { DataReport } from '@tinkex/cookbook';
import type { CommandContext } from '../commands/command-context.js';
import { openRenderer, type RendererFlags } from './open-renderer.js';

/** What a file consists of for a model. Throws a failure that lists every line that is not a conversation. */
export async function measureData(
  context: CommandContext,
  file: string,
  options: RendererFlags & { readonly maxLength?: number | undefined },
): Promise<DataReport> {
  const { conversationDataset, conversationsFromJsonl } = await import('@tinkex/cookbook');
  const { train } = await conversationsFromJsonl(file, { shuffleSeed: null }).load();
  const renderer = await openRenderer(context, options);
  return conversationDataset(train, { renderer, maxLength: options.maxLength, batchSize: 1 }).report;
}
