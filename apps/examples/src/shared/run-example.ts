import { AbortedError, TinkexError } from '@tinkex/types';

/** What an example gets to work with. */
export interface ExampleContext {
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/**
 * Runs an example as a program: a failure is one clear message and exit code 1, Ctrl-C says what is lost and exits with 130, `--help` prints
 * the usage.
 */
export async function runExample(usage: string, example: (context: ExampleContext) => Promise<void>): Promise<void> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    console.log(usage);
    return;
  }
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  try {
    await example({ signal: interrupted.signal });
  } catch (error) {
    process.exitCode = interrupted.signal.aborted ? 130 : 1;
    console.error(interrupted.signal.aborted ? '\nInterrupted. What was not saved to a checkpoint is lost.' : messageOf(error));
  } finally {
    process.off('SIGINT', interrupt);
  }
}

function messageOf(error: unknown): string {
  if (AbortedError.isInstance(error)) return `Stopped: ${error.message}`;
  if (TinkexError.isInstance(error)) return `Failed (${error.code}): ${error.message}`;
  return `Failed: ${error instanceof Error ? error.message : String(error)}`;
}
