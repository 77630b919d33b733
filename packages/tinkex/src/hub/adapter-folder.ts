import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailure } from '../output/command-failure.js';

const CONFIG = 'adapter_config.json';
const WEIGHTS = ['adapter_model.safetensors', 'adapter_model.bin'];

/** Checks that a folder is an adapter, and writes its base model into its configuration, where loaders look for it. Returns the base model. */
export async function completeAdapter(folder: string, baseModel: string | undefined): Promise<string> {
  const missing = !existsSync(join(folder, CONFIG))
    ? CONFIG
    : WEIGHTS.some((file) => existsSync(join(folder, file)))
      ? undefined
      : WEIGHTS[0];
  if (missing !== undefined) {
    throw new CommandFailure(`The checkpoint is not an adapter: it has no ${missing}`, {
      code: 'NO_ADAPTER',
      cure: 'Push the training checkpoint of a LoRA run, or an external one.',
    });
  }
  const path = join(folder, CONFIG);
  const config = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const named = config['base_model_name_or_path'];
  if (typeof named === 'string' && named !== '') return baseModel ?? named;
  await writeFile(path, `${JSON.stringify({ ...config, base_model_name_or_path: baseModel ?? 'unknown' }, null, 2)}\n`);
  return baseModel ?? 'unknown';
}
