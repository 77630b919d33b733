import { ConnectionError, TinkexError } from '@tinkex/types';
import { concatBytes } from '../runtime/bytes.js';
import { nodeModule } from '../runtime/node-module.js';
import type { TransportBody } from '../transport/transport.js';
import { oversizedBody, unusableResponse } from '../transport/unusable-response.js';

type Headers = Readonly<Record<string, string>>;

/** The functions of `node:zlib` for each encoding: of a whole body, and of a stream. */
const DECODERS = {
  gzip: ['gunzip', 'createGunzip'],
  'x-gzip': ['gunzip', 'createGunzip'],
  deflate: ['inflate', 'createInflate'],
  br: ['brotliDecompress', 'createBrotliDecompress'],
} as const;
/** The largest buffer of Node 20; the decoder rejects a limit that no buffer can reach. */
const MAX_BUFFER_BYTES = 2 ** 32;

type Encoding = keyof typeof DECODERS;

/** Whether a body with this encoding can be decoded. */
export function isDecodable(encoding: string): boolean {
  return encoding === 'identity' || Object.hasOwn(DECODERS, encoding);
}

/**
 * Decodes a body by the response's `content-encoding`: gzip, deflate, br or identity.
 *
 * @param maxBytes - Limit for the decoded size, so that a small response cannot fill the memory.
 * @throws ConnectionError when the body is cut off or damaged; ValidationError when it grows beyond the limit or its encoding is unknown.
 */
export async function decodeBody(bytes: Uint8Array, headers: Headers, maxBytes: number): Promise<Uint8Array> {
  const encoding = bytes.byteLength === 0 ? undefined : encodingOf(headers);
  if (encoding === undefined) return bytes;
  try {
    return await decodeWhole(bytes, encoding, Math.min(maxBytes, MAX_BUFFER_BYTES));
  } catch (error) {
    throw decodingFault(error, encoding, maxBytes);
  }
}

/** The same for a body that is read piece by piece. It starts when it is read: earlier, a fault would have no reader and end the process. */
export function decodeStream(body: TransportBody, headers: Headers): TransportBody {
  const encoding = encodingOf(headers);
  if (encoding === undefined) return body;
  return {
    async bytes(maxBytes = Number.POSITIVE_INFINITY) {
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of this) {
        size += chunk.byteLength;
        if (size > maxBytes) throw oversizedBody(maxBytes);
        chunks.push(chunk);
      }
      return concatBytes(chunks, size);
    },
    cancel: () => body.cancel(),
    [Symbol.asyncIterator]: () => decoded(body, encoding),
  };
}

function decodeWhole(bytes: Uint8Array, encoding: Encoding, maxOutputLength: number): Promise<Uint8Array> {
  // All of them have the signature of this one.
  const decode = zlib()[DECODERS[encoding][0]] as typeof import('node:zlib').gunzip;
  return new Promise((resolve, reject) => {
    decode(bytes, { maxOutputLength }, (error, decodedBytes) => (error === null ? resolve(decodedBytes) : reject(error)));
  });
}

function zlib(): typeof import('node:zlib') {
  return nodeModule('node:zlib', 'Decoding a compressed response');
}

async function* decoded(body: TransportBody, encoding: Encoding): AsyncGenerator<Uint8Array, void, undefined> {
  const { Readable } = nodeModule('node:stream', 'Decoding a compressed response');
  const source = Readable.from(body, { objectMode: false });
  const decoder = zlib()[DECODERS[encoding][1]]();
  let isEmpty = true;
  source.once('data', () => {
    isEmpty = false;
  });
  source.on('error', (error) => decoder.destroy(error));
  decoder.on('close', () => source.destroy());
  source.pipe(decoder);
  try {
    for await (const chunk of decoder) yield chunk as Uint8Array;
  } catch (error) {
    // Without a body (HEAD, 204) the decoder fails, and there is nothing to decode. A body that breaks off is a fault.
    if (!isEmpty || source.errored !== null) throw decodingFault(error, encoding, Number.POSITIVE_INFINITY);
  }
}

function encodingOf(headers: Headers): Encoding | undefined {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return undefined;
  if (Object.hasOwn(DECODERS, encoding)) return encoding as Encoding;
  throw unusableResponse(`The response has an unknown content-encoding: ${encoding}.`);
}

function decodingFault(error: unknown, encoding: string, maxBytes: number): TinkexError {
  if (TinkexError.isInstance(error)) return error;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ERR_BUFFER_TOO_LARGE') return oversizedBody(maxBytes);
  const how = code === 'Z_BUF_ERROR' || code === 'ERR__ERROR_FORMAT_PADDING_1' ? 'ends too early' : 'is damaged';
  return new ConnectionError({ message: `The ${encoding} body of the response ${how}.`, cause: error });
}
