import { endpoints, type UntypedApiFuture } from '@tinkex/types';

const { response } = endpoints.asample;
let idField: string | undefined;

/** Reads the answer to a submission: a lone id without a schema, which is what servers send; anything else with the codec and its errors. */
export const accepted = {
  decode(wire: unknown): UntypedApiFuture {
    // Named by the codec, and only when the first answer is there: building schemas would slow the import down.
    idField ??= Object.keys(response.encode({ requestId: '-' }))[0] ?? '';
    if (typeof wire === 'object' && wire !== null && Object.keys(wire).length === 1) {
      const requestId = (wire as Readonly<Record<string, unknown>>)[idField];
      if (typeof requestId === 'string') return { requestId };
    }
    return response.decode(wire);
  },
};
