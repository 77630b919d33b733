import { GatewayFailure } from '../failure.js';

/** The JSON body of a request. Reads no more than `maxBytes`. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new GatewayFailure('too_large', `The body of this request is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw new GatewayFailure('invalid_request', 'The body of this request is not JSON.', { cause: error });
  }
}
