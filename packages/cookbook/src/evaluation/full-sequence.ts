import { type Datum, type ModelInput, ValidationError } from '@tinkex/types';

/** The tokens that an example was cut from: its input and the last target. */
export function fullSequence({ modelInput, lossFnInputs: { targetTokens } }: Datum, index: number): ModelInput {
  const last = targetTokens?.toNumbers().at(-1);
  if (last === undefined) {
    const issues = [{ path: `data[${index}].lossFnInputs.targetTokens`, message: 'is missing or empty.' }];
    throw new ValidationError({ direction: 'request', subject: 'data', issues });
  }
  return modelInput.appendInt(last);
}
