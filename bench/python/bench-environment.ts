import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { command } from '../../scripts/gates/command.js';
import type { RunPython } from '../measure/benchmark.js';
import { lastLine } from '../measure/run-program.js';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/tinkex-bench', import.meta.url));
const TIMEOUT_MS = 480_000;

/**
 * A Python environment for a script of this folder, or the reason why there is none.
 *
 * @param name - Of the environment in the cache.
 * @param requirements - What pip installs, in this order.
 * @param script - Runs with each task.
 */
export async function benchPython(
  name: string,
  requirements: readonly string[],
  script: 'rendering.py' | 'recall.py',
): Promise<{ readonly run: RunPython } | { readonly reason: string }> {
  const folder = `${CACHE}/${name}`;
  const python = `${folder}/bin/python`;
  if (!existsSync(`${folder}/bin/pip`)) {
    const made = await command('python3', ['-m', 'venv', folder], { timeoutMs: TIMEOUT_MS }).catch(() => undefined);
    if (made?.code !== 0) return { reason: 'there is no python3 with venv on this machine' };
  }
  for (const requirement of requirements) {
    const { code, output } = await command(python, ['-m', 'pip', 'install', '--quiet', requirement], { timeoutMs: TIMEOUT_MS });
    if (code !== 0) return { reason: `pip could not install ${requirement}: ${output.trim().split('\n').at(-1)}` };
  }
  const path = fileURLToPath(new URL(script, import.meta.url));
  return {
    run: async (task) => {
      const { code, stdout, output } = await command(python, [path, JSON.stringify(task)], { timeoutMs: TIMEOUT_MS });
      if (code !== 0) throw new Error(`${script} failed (exit code ${code})\n${output}`);
      return lastLine(stdout);
    },
  };
}
