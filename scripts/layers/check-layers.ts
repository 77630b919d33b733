import { cruise, type ICruiseResult } from 'dependency-cruiser';
import configuration from '../../.dependency-cruiser.mjs';
import { listFiles } from '../gates/files.js';
import { environmentReaders } from './environment-readers.js';
import type { LayerProblem } from './layer-problem.js';

const FOLDERS = ['packages', 'apps', 'bench'];

/** Checks every TypeScript file under `baseDir`'s packages, apps and bench against the layer rules. */
export async function checkLayers(baseDir: string): Promise<{ readonly modules: number; readonly problems: readonly LayerProblem[] }> {
  const files = FOLDERS.flatMap((folder) => listFiles(`${baseDir}/${folder}`, /\.ts$/).map((file) => `${folder}/${file}`));
  const present = FOLDERS.filter((folder) => files.some((file) => file.startsWith(`${folder}/`)));
  const { forbidden = [], options = {} } = configuration;
  const { output } = await cruise(present, { ...options, baseDir, validate: true, ruleSet: { forbidden } });
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with text instead of a result');
  return {
    modules: output.modules.length,
    problems: [...notCruised(files, output), ...violations(output), ...environmentReaders(baseDir, files)],
  };
}

function violations({ summary }: ICruiseResult): LayerProblem[] {
  return summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
}

/** A cruiser that cannot read TypeScript finds no modules and no violations; so each file on disk must be among its modules. */
function notCruised(files: readonly string[], { modules }: ICruiseResult): LayerProblem[] {
  const seen = new Set(modules.map(({ source }) => source));
  return files
    .filter((file) => !seen.has(file))
    .map((file) => ({ rule: 'every-file-is-cruised', from: file, to: 'the cruiser did not see this file' }));
}
