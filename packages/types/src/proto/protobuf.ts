import { ValidationError } from '../errors/validation-error.js';
import type { SampleResponse } from '../sampling/sample-response.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest } from '../training/forward-backward.js';
import { readForwardBackwardOutput } from './forward-backward-output-reader.js';
import { writeForwardBackwardRequest } from './forward-backward-request-writer.js';
import { readSampleResponse } from './sample-response-reader.js';
import type { AllocateBytes } from './writer.js';

/** Turns one kind of object into bytes. */
export interface BytesEncoder<T> {
  /** The name of the object, as the protocol calls it. */
  readonly name: string;
  /**
   * Throws a `ValidationError`.
   *
   * @param allocate - Gives the array to write into, of exactly the requested length; its content does not matter. Default: a new
   * one. Reusing memory saves a large request more time than its encoding takes.
   */
  readonly encode: (value: T, allocate?: AllocateBytes) => Uint8Array;
}

/** Turns bytes into one kind of object. */
export interface BytesDecoder<T> {
  /** The name of the object, as the protocol calls it. */
  readonly name: string;
  /** Throws a `ValidationError`. The numbers of the result are views of the bytes where those are aligned: do not write into the bytes. */
  readonly decode: (bytes: Uint8Array) => T;
}

/** The content type of protobuf bodies. */
export const PROTOBUF_CONTENT_TYPE = 'application/x-protobuf';

/** The client's half of the protobuf wire format. Its objects are those of the JSON codecs of the same names. */
export const protobuf: {
  readonly forwardBackwardRequest: BytesEncoder<ForwardBackwardRequest>;
  readonly forwardBackwardOutput: BytesDecoder<ForwardBackwardOutput>;
  readonly sampleResponse: BytesDecoder<SampleResponse>;
} = {
  forwardBackwardRequest: {
    name: 'ForwardBackwardRequest',
    encode: explainFailures('ForwardBackwardRequest', 'request', writeForwardBackwardRequest),
  },
  forwardBackwardOutput: {
    name: 'ForwardBackwardOutput',
    decode: explainFailures('ForwardBackwardOutput', 'response', readForwardBackwardOutput),
  },
  sampleResponse: { name: 'SampleResponse', decode: explainFailures('SampleResponse', 'response', readSampleResponse) },
};

/** The same conversion, whose errors are all a `ValidationError` about the named object. */
export function explainFailures<A extends unknown[], B>(
  subject: string,
  direction: 'request' | 'response',
  convert: (...input: A) => B,
): (...input: A) => B {
  return (...input) => {
    try {
      return convert(...input);
    } catch (cause) {
      if (ValidationError.isInstance(cause)) throw new ValidationError({ direction, subject, issues: cause.issues, cause });
      const message = `the protobuf message cannot be converted: ${cause instanceof Error ? cause.message : String(cause)}`;
      throw new ValidationError({ direction, subject, issues: [{ path: '', message }], cause });
    }
  };
}
