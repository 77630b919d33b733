import type { ExitCode } from './exit-codes.js';
import { explainFailure } from './explain-failure.js';
import type { Terminal } from './terminal.js';

/** Writes a failure to stderr, as one line of JSON for programs, and returns the exit code. Stacks are shown only with `--debug`. */
export async function reportFailure(
  error: unknown,
  terminal: Terminal,
  { isJson, isDebug }: { readonly isJson: boolean; readonly isDebug: boolean },
): Promise<ExitCode> {
  const { redactText } = await import('@tinkex/types/wire');
  const { code, message, details, cure, status, exitCode } = await explainFailure(error);
  if (isJson) {
    const report = {
      code,
      message,
      ...(status === undefined ? {} : { status }),
      details: details.map((line) => redactText(line)),
      ...(cure && { cure }),
    };
    terminal.note(JSON.stringify({ error: report }));
  } else {
    const { noteStyle: style } = terminal;
    terminal.note(`${style.red(style.bold('Error:'))} ${message}`);
    for (const line of details) terminal.note(`  ${redactText(line)}`);
    if (cure !== undefined) terminal.note(style.dim(`  ${cure}`));
  }
  if (isDebug && error instanceof Error) terminal.note(redactText(stackOf(error)));
  return exitCode;
}

function stackOf(error: Error): string {
  const own = error.stack ?? String(error);
  return error.cause instanceof Error ? `${own}\nCaused by: ${stackOf(error.cause)}` : own;
}
