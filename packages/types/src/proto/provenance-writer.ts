import type { ProvenanceSpan } from '../training/provenance.js';
import { delimitedSize, type SizedWriter, type TextBytes, varintSize } from './writer.js';

/** How many bytes a list of spans takes, with the begin of each. */
export function spansSize(spans: readonly ProvenanceSpan[], text: TextBytes): number {
  let size = 0;
  for (const span of spans) size += delimitedSize(delimitedSize(spanSize(span, text)));
  return size;
}

/** Writes a list of spans. */
export function writeSpans(writer: SizedWriter, field: number, spans: readonly ProvenanceSpan[], text: TextBytes): void {
  for (const span of spans) {
    const { kind, sequenceId, offset = 0, length } = span;
    const size = spanSize(span, text);
    writer.begin(field, delimitedSize(size));
    writer.begin(kind === 'prompt' ? 1 : 2, size);
    writer.bytes(1, text.of(sequenceId));
    if (offset > 0) writer.varint(2, offset);
    if (length > 0) writer.varint(3, length);
  }
}

/** Zero offsets and lengths are not written. */
function spanSize({ sequenceId, offset = 0, length }: ProvenanceSpan, text: TextBytes): number {
  return delimitedSize(text.of(sequenceId).length) + (offset > 0 ? 1 + varintSize(offset) : 0) + (length > 0 ? 1 + varintSize(length) : 0);
}
