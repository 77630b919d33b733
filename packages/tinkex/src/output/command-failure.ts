import { EXIT, type ExitCode } from './exit-codes.js';

/** A failure that the command explains itself. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  /** For programs that read `--json`. */
  readonly code: string;
  /** What to do. */
  readonly cure: string | undefined;
  readonly details: readonly string[];
  readonly exitCode: ExitCode;

  constructor(
    message: string,
    options: { readonly code?: string; readonly cure?: string; readonly details?: readonly string[]; readonly exitCode?: ExitCode } = {},
  ) {
    super(message);
    this.code = options.code ?? 'COMMAND_FAILED';
    this.cure = options.cure;
    this.details = options.details ?? [];
    this.exitCode = options.exitCode ?? EXIT.failure;
  }
}

/** Arguments that do not fit together. */
export function wrongUsage(message: string, cure?: string): CommandFailure {
  return new CommandFailure(message, { code: 'WRONG_USAGE', exitCode: EXIT.usage, ...(cure === undefined ? {} : { cure }) });
}
