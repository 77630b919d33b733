const MODEL_ID_FIELD = 1;
const SEQ_ID_FIELD = 2;

/** Which operation of which model a submission is. */
export interface SubmissionNumber {
  readonly modelId: string;
  readonly seqId: number;
}

/** The model and the number in a JSON body that is wrong in other places; undefined when it names none. */
export function numberInJson(wire: unknown): SubmissionNumber | undefined {
  const { model_id: modelId, seq_id: seqId } = (typeof wire === 'object' && wire !== null ? wire : {}) as Readonly<Record<string, unknown>>;
  return typeof modelId === 'string' && typeof seqId === 'number' ? { modelId, seqId } : undefined;
}

/** The same in a `ForwardBackwardRequest` whose structure is sound: only its outermost fields are looked at (`protobuf.md`). */
export function numberInProtobuf(body: Uint8Array): SubmissionNumber | undefined {
  let modelId: string | undefined;
  let seqId: number | undefined;
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; at < body.length; factor *= 128) {
      const byte = body[at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < body.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0: {
        const value = varint();
        if (field === SEQ_ID_FIELD) seqId = value;
        break;
      }
      case 1:
        at += 8;
        break;
      case 2: {
        const end = varint() + at;
        if (field === MODEL_ID_FIELD) modelId = new TextDecoder().decode(body.subarray(at, end));
        at = end;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return undefined;
    }
  }
  return modelId === undefined || seqId === undefined ? undefined : { modelId, seqId };
}
