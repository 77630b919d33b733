import { GatewayFailure } from '../failure.js';

/** The JSON body of a request. Reads no more than `maxBytes`. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, size] = ['', 0];
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) throw new GatewayFailure('too_large', `The body of this request is larger than ${maxBytes} bytes.`);
      text += decoder.decode(chunk, { stream: true });
    }
    return JSON.parse(text + decoder.decode());
  } catch (error) {
    if (error instanceof GatewayFailure) throw error;
    throw new GatewayFailure('invalid_request', 'The body of this request is not JSON.', { cause: error });
  }
}
