import type { ServerMessage } from './service-options.js';

/**
 * What becomes of a message that nobody has asked for. Work that stands still for an hour because a bill is unpaid must not do so without a word;
 * news that change nothing are not worth a line in somebody else's output.
 */
export function printMessage({ level, text }: ServerMessage): void {
  if (level !== 'info') process.emitWarning(text, { type: 'TinkexWarning', code: `TINKEX_SERVER_${level.toUpperCase()}` });
}
