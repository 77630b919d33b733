import { kMaxLength } from 'node:buffer';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, createBrotliDecompress, createGunzip, createInflate, gunzip, inflate } from 'node:zlib';
import { ConnectionError, TinkexError } from '@tinkex/types';
import { oversizedBody } from '../transport/body-size.js';
import type { TransportBody } from '../transport/transport.js';
import { unusableResponse } from '../transport/unusable-response.js';

type Headers = Readonly<Record<string, string>>;

const WHOLE = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };
const STREAM = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

type Encoding = keyof typeof WHOLE;

/** True when the body must be decoded before it can be read. */
export function hasEncoding(headers: Headers): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity';
}

/** Whether a body in this encoding can be decoded here. */
export function isDecodable(encoding: string): boolean {
  return encoding === 'identity' || Object.hasOwn(WHOLE, encoding);
}

/**
 * Undoes the response's `content-encoding`: gzip, deflate or br.
 *
 * @param maxBytes - Limit of the decoded size, so that a small answer cannot fill the memory.
 * @throws ConnectionError when the body is cut off or damaged; ValidationError when it grows beyond the limit or its encoding is unknown.
 */
export async function decodeBody(bytes: Uint8Array, headers: Headers, maxBytes: number): Promise<Uint8Array> {
  if (bytes.byteLength === 0) return bytes;
  const encoding = knownEncoding(headers);
  try {
    // The decoder refuses a limit that no buffer could reach.
    return await WHOLE[encoding](bytes, { maxOutputLength: Math.min(maxBytes, kMaxLength) });
  } catch (error) {
    throw decodingFault(error, encoding, maxBytes);
  }
}

/**
 * The same for a body that is read piece by piece. Nothing is taken from the body before somebody reads: a fault would have nobody to
 * go to, and end the process.
 */
export function decodeStream(body: TransportBody, headers: Headers): TransportBody {
  const encoding = knownEncoding(headers);
  return {
    async bytes(maxBytes = Number.POSITIVE_INFINITY) {
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of this) {
        size += chunk.byteLength;
        if (size > maxBytes) throw oversizedBody(maxBytes);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks, size);
    },
    cancel() {
      body.cancel();
    },
    [Symbol.asyncIterator]: () => decoded(body, encoding),
  };
}

async function* decoded(body: TransportBody, encoding: Encoding): AsyncGenerator<Uint8Array, void, undefined> {
  const source = Readable.from(body, { objectMode: false });
  const decoder = STREAM[encoding]();
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
    // Without a body (HEAD, 204) a decoder misses its beginning, and there is nothing to decode. A body that breaks is another matter.
    if (!isEmpty || source.errored !== null) throw decodingFault(error, encoding, Number.POSITIVE_INFINITY);
  }
}

function knownEncoding(headers: Headers): Encoding {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (Object.hasOwn(WHOLE, encoding)) return encoding as Encoding;
  throw unusableResponse(`The response has an unknown content-encoding: ${encoding}.`);
}

function decodingFault(error: unknown, encoding: string, maxBytes: number): TinkexError {
  if (TinkexError.isInstance(error)) return error;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ERR_BUFFER_TOO_LARGE') return oversizedBody(maxBytes);
  const how = code === 'Z_BUF_ERROR' || code === 'ERR__ERROR_FORMAT_PADDING_1' ? 'ends too early' : 'is damaged';
  return new ConnectionError({ message: `The ${encoding} body of the response ${how}.`, cause: error });
}
