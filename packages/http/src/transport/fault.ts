import { AbortedError, ConfigurationError, ConnectionError, TimeoutError, TinkexError } from '@tinkex/types';
import { isRetryableStatus } from '@tinkex/types/wire';

/**
 * Translates an error of the network. Errors that are translated already (a deadline, an abort) pass unchanged.
 *
 * @param origin - Named in the message; it carries no secret.
 */
export function faultOf(error: unknown, origin: string): TinkexError {
  if (TinkexError.isInstance(error)) return error;
  switch (codeOf(error)) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return timeoutFault('connect', `Connecting to ${origin} took too long.`, error);
    case 'UND_ERR_HEADERS_TIMEOUT':
      return timeoutFault('headers', `${origin} did not answer in time.`, error);
    case 'UND_ERR_BODY_TIMEOUT':
      return timeoutFault('body', `${origin} stopped sending the body.`, error);
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return new AbortedError({ message: 'The transport is closed.', cause: error });
    case 'UND_ERR_ABORT':
      return new AbortedError({ message: 'The call was aborted.', cause: error });
    case 'UND_ERR_ABORTED':
      // An abort by the caller is a TinkexError; undici itself aborts a tunnel that its proxy refuses.
      return tunnelFault(error, origin);
    case 'UND_ERR_INVALID_ARG':
    case 'UND_ERR_NOT_SUPPORTED':
      return new ConfigurationError({ message: `The request cannot be sent: ${messageOf(error)}.`, cause: error });
    default:
      return connectionFault(error, origin);
  }
}

function tunnelFault(error: unknown, origin: string): ConnectionError {
  const status = Number(/^Proxy response \((\d+)\)/.exec(messageOf(error))?.[1]);
  if (Number.isNaN(status)) return connectionFault(error, origin);
  const message = `The proxy refused to connect to ${origin} (status ${status}).`;
  return new ConnectionError({ message, cause: error, isRetryable: isRetryableStatus(status) });
}

function connectionFault(error: unknown, origin: string): ConnectionError {
  // undici keeps the bytes that it could not parse, and an error shows its cause: a server may have echoed the credential.
  if (error instanceof Error && 'data' in error) delete error.data;
  return new ConnectionError({ message: `No usable response from ${origin}: ${describe(error)}.`, cause: error });
}

function timeoutFault(phase: 'connect' | 'headers' | 'body', message: string, cause: unknown): TimeoutError {
  return new TimeoutError({ message, phase, cause });
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason';
}

function describe(error: unknown): string {
  const code = codeOf(error);
  const message = messageOf(error).replace(/\s+/g, ' ').trim() || 'no reason given';
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
