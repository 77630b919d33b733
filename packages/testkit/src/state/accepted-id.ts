/** The ID of the record of one accepted operation of a model. */
export function acceptedId(modelId: string, seqId: number): string {
  return `${seqId} ${modelId}`;
}

/** The parts of such an ID. */
export function parseAcceptedId(id: string): { readonly modelId: string; readonly seqId: number } {
  const space = id.indexOf(' ');
  return { modelId: id.slice(space + 1), seqId: Number(id.slice(0, space)) };
}
