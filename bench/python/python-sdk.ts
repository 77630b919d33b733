import { fileURLToPath } from 'node:url';
import { NotAvailable, pythonEnvironment } from '../../scripts/conformance/python-environments.js';
import type { RunPython } from '../measure/benchmark.js';
import { lastLine } from '../measure/run-program.js';

const VERSION = '0.25.0';
const SCRIPT = fileURLToPath(new URL('./contender.py', import.meta.url));

/**
 * The official SDK in its own virtual environment, or the reason why it cannot run here.
 *
 * @param torch - A version of torch to install as well. The SDK imports torch if it is installed, and custom losses need it.
 */
export async function pythonSdk(
  baseUrl: string,
  torch?: string,
): Promise<{ readonly run: RunPython; readonly version: string } | { readonly reason: string }> {
  try {
    const environment = await pythonEnvironment(VERSION, torch);
    const run: RunPython = async (task) => {
      const apiKey = (task as { apiKey?: string }).apiKey ?? 'tml-bench';
      const variables = { TINKER_BASE_URL: baseUrl, TINKER_API_KEY: apiKey, TINKER_TELEMETRY: '0' };
      const { code, stdout, output } = await environment.run('python', [SCRIPT, JSON.stringify({ ...task, baseUrl })], variables);
      if (code !== 0) throw new Error(`The Python SDK failed (exit code ${code})\n${output}`);
      return lastLine(stdout);
    };
    return { run, version: `${environment.version}${torch === undefined ? '' : ` with torch ${torch}`}` };
  } catch (error) {
    if (error instanceof NotAvailable) return { reason: error.message };
    throw error;
  }
}
