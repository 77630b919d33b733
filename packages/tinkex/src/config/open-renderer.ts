import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Renderer, TokenizerConfig, TokenizerJson } from '@tinkex/renderers';
import type { CommandContext } from '../commands/command-context.js';
import { CommandFailure } from '../output/command-failure.js';
import { withService } from './connect.js';

/** What a renderer is opened with. */
export interface RendererFlags {
  readonly model: string;
  /** Default: the one that the model was trained with. */
  readonly renderer?: string | undefined;
  /** A folder with `tokenizer.json`. Default: the server names the tokenizer, and a hub has it. */
  readonly tokenizer?: string | undefined;
}

/** Opens the renderer of a model. Models of the embedded engine, and tokenizers from a folder, need no server. */
export async function openRenderer(
  context: CommandContext,
  { model, renderer: wanted, tokenizer: folder }: RendererFlags,
): Promise<Renderer> {
  const { bpeTokenizer, getRecommendedRendererName, getRenderer, toRendererTokenizer } = await import('@tinkex/renderers');
  const name = wanted ?? getRecommendedRendererName(model);
  if (folder !== undefined) return getRenderer(name, bpeTokenizer(await readTokenizer(folder), await readTokenizerConfig(folder)));
  const { ByteTokenizer } = await import('@tinkex/types');
  if (model.startsWith('tinkex/')) return getRenderer(name, toRendererTokenizer(new ByteTokenizer()));
  return await withService(context, async (service) => {
    const sampler = await service.createSamplingClient({ baseModel: model, signal: context.signal });
    return getRenderer(name, toRendererTokenizer(await sampler.getTokenizer({ signal: context.signal })));
  });
}

async function readTokenizer(folder: string): Promise<TokenizerJson> {
  const file = join(folder, 'tokenizer.json');
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as TokenizerJson;
  throw new CommandFailure(`There is no ${file}`, { code: 'NO_TOKENIZER', cure: 'Download tokenizer.json of the model into that folder.' });
}

async function readTokenizerConfig(folder: string): Promise<TokenizerConfig> {
  const file = join(folder, 'tokenizer_config.json');
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as TokenizerConfig) : {};
}

/** The chat template of a model, where its files have one; undefined otherwise. */
export async function readChatTemplate(folder: string): Promise<string | undefined> {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) return await readFile(file, 'utf8');
  const { chat_template: template } = (await readTokenizerConfig(folder)) as { chat_template?: unknown };
  return typeof template === 'string' ? template : undefined;
}
