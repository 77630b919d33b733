import { CommandFailure } from './command-failure.js';
import { EXIT, type ExitCode } from './exit-codes.js';

/** A failure as people and programs read it. */
export interface ExplainedFailure {
  readonly code: string;
  readonly message: string;
  readonly details: readonly string[];
  readonly cure?: string | undefined;
  readonly status?: number | undefined;
  readonly exitCode: ExitCode;
}

/** What a status of the server means, and what to do about it. */
const STATUSES: Readonly<Record<number, readonly [message: string, cure?: string]>> = {
  400: ['Invalid request'],
  401: ['Authentication failed', 'Check the key: `tinkex auth status`. Log in with `tinkex auth login`, or set TINKER_API_KEY.'],
  402: ['Billing issue', 'Check the balance of your organization in the console, then run the command again.'],
  403: ['Permission denied', 'Your key may not do this. `tinkex auth whoami` shows whose key it is.'],
  404: ['Resource not found', 'Check the name: `tinkex run list` and `tinkex checkpoint list` show what exists.'],
  422: ['Invalid data'],
  429: ['Rate limit exceeded', 'Wait a moment, then run the command again.'],
};

const SERVER_ERROR = ['Internal server error', 'The server failed, not your command. Run it again later.'] as const;

/** Explains any failure: a message, what the server said, and what to do. */
export async function explainFailure(error: unknown): Promise<ExplainedFailure> {
  if (error instanceof CommandFailure) return error;
  const types = await import('@tinkex/types');
  if (types.AbortedError.isInstance(error)) return plain('Interrupted', error.code, EXIT.interrupted);
  if (types.ApiStatusError.isInstance(error)) {
    const { status, code, message } = error;
    const [text, cure] = STATUSES[status] ?? (status >= 500 ? SERVER_ERROR : [`API error (status ${status})`]);
    return { code, status, message: text, details: [message], cure, exitCode: EXIT.failure };
  }
  if (types.TimeoutError.isInstance(error)) {
    return { ...plain('Request timeout', error.code), details: [error.message], cure: 'Check the network, then run the command again.' };
  }
  if (types.ConnectionError.isInstance(error)) {
    const cure = 'Check the network, TINKER_BASE_URL and your proxy. `tinkex doctor` checks each of them.';
    return { ...plain('Connection failed', error.code), details: [error.message], cure };
  }
  if (types.ConfigurationError.isInstance(error)) return { ...plain('Configuration error', error.code), details: [error.message] };
  if (types.ValidationError.isInstance(error)) {
    const isResponse = error.direction === 'response';
    return {
      ...plain(
        isResponse ? 'The server sent something unexpected' : 'Invalid data',
        error.code,
        isResponse ? EXIT.failure : EXIT.invalidData,
      ),
      details: error.message.split('\n'),
    };
  }
  if (types.TinkexError.isInstance(error)) return { ...plain('API error', error.code), details: [error.message] };
  return explainOther(error);
}

const DISK_FULL = new Set(['ENOSPC', 'EDQUOT']);

function explainOther(error: unknown): ExplainedFailure {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  if (typeof code === 'string' && DISK_FULL.has(code)) {
    return {
      ...plain('The disk is full', code),
      details: [text],
      cure: 'Free some space or choose another folder, then run the command again.',
    };
  }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return { ...plain('File system error', code), details: [text] };
  return { ...plain('Unexpected error', 'UNEXPECTED'), details: [text], cure: 'Run the command with --debug to see where it happened.' };
}

function plain(message: string, code: string, exitCode: ExitCode = EXIT.failure): ExplainedFailure {
  return { code, message, details: [], exitCode };
}
