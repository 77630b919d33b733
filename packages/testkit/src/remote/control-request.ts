import { request } from 'node:http';

/** Where a test server is, and what its control API asks for. */
export interface ControlAddress {
  /** The base URL of the server, without a slash at its end. */
  readonly url: string;
  /** The control token. */
  readonly token: string;
  /** The scope that requests control; undefined for the whole server. */
  readonly scope: string | undefined;
}

/**
 * One request to the control API. It uses `node:http` and no kept-alive connection: whatever a test does to `fetch` or undici, and however it
 * ends, this works and leaves nothing open.
 */
export function controlRequest(address: ControlAddress, method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
  const headers: Record<string, string> = { authorization: `Bearer ${address.token}`, 'content-type': 'application/json' };
  if (address.scope !== undefined) headers['x-testkit-scope'] = address.scope;
  return new Promise((resolve, reject) => {
    const sent = request(`${address.url}/__testkit${path}`, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(refusal(response.statusCode ?? 0, text));
      });
    });
    sent.on('error', (cause) => {
      reject(new Error(`The test server on ${address.url} does not answer. Has it been stopped?`, { cause }));
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The error that the same call throws in process. */
function refusal(status: number, text: string): Error {
  const message = detailOf(text) ?? `The control API answered with status ${status}: ${text.slice(0, 500)}`;
  return status === 400 ? new RangeError(message) : new Error(message);
}

function detailOf(text: string): string | undefined {
  try {
    const { detail } = JSON.parse(text) as { readonly detail?: unknown };
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}
