import { AuthenticationError, ConnectionError, NotFoundError, ServerError, TinkexError, ValidationError } from '@tinkex/types';

const MAX_MESSAGE = 300;

/** A failure as one message: what happened and, if known, what to do about it. */
export function explain(error: unknown): string {
  if (!TinkexError.isInstance(error)) return `Failed: ${error instanceof Error ? error.message : String(error)}`;
  const hint = hintFor(error);
  return `Failed (${error.code}): ${oneLine(error.message)}${hint === undefined ? '' : `\n${hint}`}`;
}

/** A server of another kind may answer with a whole page. */
function oneLine(message: string): string {
  const line = message.replace(/\s+/g, ' ');
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line;
}

function hintFor(error: TinkexError): string | undefined {
  if (ValidationError.isInstance(error) && error.direction === 'response')
    return 'Is TINKER_BASE_URL the address of a Tinker server? The answer does not follow its protocol.';
  if (ServerError.isInstance(error)) return 'Is TINKER_BASE_URL the address of a Tinker server, and is it healthy?';
  if (ConnectionError.isInstance(error)) return 'Is the server running, and is TINKER_BASE_URL its address?';
  if (AuthenticationError.isInstance(error))
    return process.env.TINKER_API_KEY
      ? 'Check TINKER_API_KEY: the server rejected this key.'
      : 'Set TINKER_API_KEY: the server requires a key.';
  if (NotFoundError.isInstance(error)) return 'Check TINKER_BASE_URL, and the names and paths you passed.';
  return undefined;
}
