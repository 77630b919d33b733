import { invalidRequest } from '../errors/validation-error.js';
import type { Datum } from '../training/datum.js';
import { lossInputDomainName } from '../training/loss-fn-inputs.js';
import type { CustomLossDefinition } from './custom-loss-graph.js';

/**
 * Checks that each datum has the inputs that a custom loss reads, each with its declared rank. The logprobs have the shape of the targets.
 *
 * @throws `ValidationError` that names the datum and the input.
 */
export function checkCustomLossData({ name, inputs }: CustomLossDefinition, data: readonly Datum[]): void {
  for (const [index, { lossFnInputs }] of data.entries()) {
    for (const { name: inputName, rank } of inputs) {
      const key = inputName === 'logprobs' ? 'targetTokens' : lossInputDomainName(inputName);
      const path = `data[${index}].lossFnInputs.${key}`;
      const given = lossFnInputs[key];
      if (given === undefined) throw invalidRequest('call', path, `is missing; the custom loss '${name}' reads it`);
      const actual = given.shape?.length ?? 1;
      if (actual !== rank) {
        throw invalidRequest('call', path, `has rank ${actual}; the custom loss '${name}' declares ${inputName} with rank ${rank}`);
      }
    }
  }
}
