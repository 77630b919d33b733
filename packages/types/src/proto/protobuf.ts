import { ValidationError } from '../errors/validation-error.js';
import type { SampleResponse } from '../wire/sampling.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest } from '../wire/training.js';
import { readForwardBackwardOutput } from './forward-backward-output-reader.js';
import { writeForwardBackwardOutput } from './forward-backward-output-writer.js';
import { readForwardBackwardRequest } from './forward-backward-request-reader.js';
import { writeForwardBackwardRequest } from './forward-backward-request-writer.js';
import { readSampleResponse, writeSampleResponse } from './sample-response.js';
import type { AllocateBytes } from './writer.js';

/** Turns one kind of object into bytes and back. */
export interface BytesCodec<T> {
  /** The name of the object, as the protocol calls it. */
  readonly name: string;
  /** Throws a `ValidationError`. */
  readonly encode: (value: T) => Uint8Array;
  /**
   * Throws a `ValidationError`. The numbers of the result are views on the bytes where those are aligned, so do not write into the
   * bytes afterwards.
   */
  readonly decode: (bytes: Uint8Array) => T;
}

/** Turns one kind of object into bytes, in memory of the caller's choice, and back. */
export interface PlacedBytesCodec<T> extends BytesCodec<T> {
  /**
   * Throws a `ValidationError`.
   *
   * @param allocate - Gives the array to write into, of exactly the length it is asked for; what it contains does not matter. Default: a new one.
   * Memory that is used again saves a large request more time than its encoding takes.
   */
  readonly encode: (value: T, allocate?: (size: number) => Uint8Array) => Uint8Array;
}

/** The content type of the protobuf dialect. */
export const PROTOBUF_CONTENT_TYPE = 'application/x-protobuf';

/** The codecs of the protobuf dialect. They give the same objects as the JSON codecs of the same names. */
export const protobuf: {
  readonly forwardBackwardRequest: PlacedBytesCodec<ForwardBackwardRequest>;
  readonly forwardBackwardOutput: BytesCodec<ForwardBackwardOutput>;
  readonly sampleResponse: BytesCodec<SampleResponse>;
} = {
  forwardBackwardRequest: bytesCodec('ForwardBackwardRequest', 'request', writeForwardBackwardRequest, readForwardBackwardRequest),
  forwardBackwardOutput: bytesCodec('ForwardBackwardOutput', 'response', writeForwardBackwardOutput, readForwardBackwardOutput),
  sampleResponse: bytesCodec('SampleResponse', 'response', writeSampleResponse, readSampleResponse),
};

function bytesCodec<T>(
  name: string,
  direction: 'request' | 'response',
  write: (value: T, allocate?: AllocateBytes) => Uint8Array,
  read: (bytes: Uint8Array) => T,
): PlacedBytesCodec<T> {
  const guarded =
    <A extends unknown[], B>(convert: (...input: A) => B) =>
    (...input: A): B => {
      try {
        return convert(...input);
      } catch (cause) {
        if (ValidationError.isInstance(cause)) throw new ValidationError({ direction, subject: name, issues: cause.issues, cause });
        const message = `the protobuf message cannot be converted: ${cause instanceof Error ? cause.message : String(cause)}`;
        throw new ValidationError({ direction, subject: name, issues: [{ path: '', message }], cause });
      }
    };
  return { name, encode: guarded(write), decode: guarded(read) };
}
