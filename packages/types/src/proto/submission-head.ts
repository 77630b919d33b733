import { BYTES, readerOf, readMessage, VARINT } from './reader.js';

/** Which operation of which model a submission is. */
export interface SubmissionHead {
  readonly modelId: string;
  readonly seqId: number;
}

/**
 * The model and the number of a protobuf `ForwardBackwardRequest`, without reading its data: for servers and proxies that must tell operations apart even
 * when the rest is refused. Undefined when it names none, or is no message at all.
 */
export function readSubmissionHead(bytes: Uint8Array): SubmissionHead | undefined {
  const reader = readerOf(bytes);
  let modelId: string | undefined;
  let seqId: number | undefined;
  try {
    readMessage(reader, reader.len, (field, layout) => {
      if (field === 1 && layout === BYTES) modelId = reader.string(true);
      else if (field === 2 && layout === VARINT) seqId = reader.int32();
      else return false;
      return true;
    });
  } catch {
    // Bytes that are cut off or no protobuf: whatever was read before is not to be trusted.
    return undefined;
  }
  return modelId === undefined || seqId === undefined ? undefined : { modelId, seqId };
}
