import { checkKind } from '../kind.js';
import { redactText } from '../redaction/redact-text.js';
import { TinkexError, type TinkexErrorOptions } from './tinkex-error.js';

/** One thing wrong with a value. */
export interface ValidationIssue {
  /** Where, as you would write it: `data[0].lossFnInputs.weights`. Empty for the value as a whole. */
  readonly path: string;
  /** What is wrong and how to fix it. */
  readonly message: string;
}

/** How a {@link ValidationError} is built. The default message lists the subject and the issues. */
export interface ValidationErrorOptions extends Omit<TinkexErrorOptions, 'message'> {
  readonly message?: string | undefined;
  /** `request`: what the caller gave. `response`: what the server sent. */
  readonly direction: 'request' | 'response';
  readonly issues: readonly ValidationIssue[];
  /** What was being read or written, such as `CreateModelRequest`. */
  readonly subject?: string | undefined;
}

const SHOWN_ISSUES = 5;

/** A value that does not fit the protocol: ours (`direction: 'request'`) or the server's (`direction: 'response'`). */
export class ValidationError extends TinkexError {
  static override readonly kind: string = 'ValidationError';
  static override readonly code: string = 'TINKEX_VALIDATION';
  static override readonly isInstance: (value: unknown) => value is ValidationError = checkKind('ValidationError');

  readonly direction: 'request' | 'response';
  readonly issues: readonly ValidationIssue[];

  constructor(options: ValidationErrorOptions) {
    super({ ...options, message: options.message ?? describe(options) });
    this.direction = options.direction;
    // They may quote what a server has sent.
    this.issues = options.issues.map(({ path, message }) => ({ path: redactText(path), message: redactText(message) }));
  }
}

function describe({ direction, issues, subject }: ValidationErrorOptions): string {
  const shown = issues.slice(0, SHOWN_ISSUES).map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
  const more = issues.length > SHOWN_ISSUES ? ` (and ${issues.length - SHOWN_ISSUES} more)` : '';
  const what = subject ?? (direction === 'request' ? 'value' : 'response');
  return `${direction === 'request' ? 'Invalid' : 'The server sent an invalid'} ${what}: ${shown.join('; ')}${more}`;
}

/** A `ValidationError` about one place of a value the caller gave. */
export function invalidRequest(subject: string, path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'request', subject, issues: [{ path, message }] });
}

/** A `ValidationError` about one place of something the server sent. */
export function invalidResponse(subject: string, path: string, message: string): ValidationError {
  return new ValidationError({ direction: 'response', subject, issues: [{ path, message }] });
}
