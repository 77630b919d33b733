/**
 * The program that must give the same report in every runtime: plain ESM, and no import but the package under test. Whoever imports it decides where the
 * report goes, for that is the one thing the runtimes do not share.
 */
import type { Check } from './check.js';
import { errorChecks } from './errors.js';
import { jsonChecks } from './json.js';
import { nameChecks } from './names.js';
import { protobufChecks } from './protobuf.js';
import { trainingChecks } from './training.js';

const checks: readonly Check[] = [...trainingChecks, ...protobufChecks, ...jsonChecks, ...nameChecks, ...errorChecks];
const failures: string[] = [];
for (const { name, run } of checks) {
  try {
    run();
  } catch (error) {
    failures.push(`failed: ${name}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`);
  }
}

const { navigator } = globalThis as { navigator?: { readonly userAgent?: string } };
const runtime = `runtime: ${navigator?.userAgent ?? 'unnamed'}`;

/** Which runtime this is, each failure on a line, then how many checks passed. */
export const report: string = [runtime, ...failures, `${checks.length - failures.length} checks passed`].join('\n');
