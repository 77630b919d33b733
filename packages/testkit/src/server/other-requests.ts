import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendFetchResponse, toFetchRequest } from '@tinkex/http/server';
import { SIGNED_PREFIX } from '../archive/signed-downloads.js';
import { CONTROL_PREFIX } from '../control/control-api.js';

/**
 * Answers requests to paths beside the server's own, such as a page. Undefined leaves the request to the server, which answers 404 and
 * records the broken rule. The request's signal aborts when the client hangs up.
 */
export type OtherRequests = (request: Request) => Response | Promise<Response> | undefined;

/** What {@link otherFront} needs. */
export interface OtherFrontOptions {
  readonly otherRequests: OtherRequests;
  /** What stands before `/api`; empty for nothing. */
  readonly basePath: string;
  /** Receives what `otherRequests` throws; the client gets the response that this returns. */
  readonly onFailure: (error: unknown) => Response;
}

/** Answers a request whose body was read, and returns true; or returns false and leaves it alone. */
export type OtherFront = (incoming: IncomingMessage, outgoing: ServerResponse, body: Uint8Array) => boolean;

/** The server's own paths never get here, known or not: a mistyped route of the API stays a broken rule. */
const OWN_PREFIXES: readonly string[] = ['/api/', `${CONTROL_PREFIX}/`, SIGNED_PREFIX];

/** Connects {@link OtherRequests} to a Node server. */
export function otherFront({ otherRequests, basePath, onFailure }: OtherFrontOptions): OtherFront {
  const ownPrefixes = basePath === '' ? OWN_PREFIXES : [...OWN_PREFIXES, `${basePath}/`];
  return (incoming, outgoing, body) => {
    const path = `${incoming.url?.split('?', 1)[0] ?? ''}/`;
    if (ownPrefixes.some((prefix) => path.startsWith(prefix))) return false;
    const gone = new AbortController();
    const request = fetchRequest(incoming, body, gone.signal);
    if (request === undefined) return false;
    const response = settled(() => otherRequests(request), onFailure);
    if (response === undefined) return false;
    outgoing.once('close', () => gone.abort(new Error('The client closed the connection.')));
    response
      .then((answer) => sendFetchResponse(answer, incoming, outgoing))
      .catch((error: unknown) => {
        onFailure(error);
        outgoing.destroy();
      });
    return true;
  };
}

/** Undefined for what fetch cannot express: such an address is not that of a page either. */
function fetchRequest(incoming: IncomingMessage, body: Uint8Array, signal: AbortSignal): Request | undefined {
  try {
    return toFetchRequest(incoming, { signal, body });
  } catch {
    return undefined;
  }
}

/** The handler's response, or that of its failure; undefined if it leaves the request to the server. */
function settled(answer: () => ReturnType<OtherRequests>, onFailure: (error: unknown) => Response): Promise<Response> | undefined {
  try {
    const response = answer();
    return response === undefined ? undefined : Promise.resolve(response).catch(onFailure);
  } catch (error) {
    return Promise.resolve(onFailure(error));
  }
}
