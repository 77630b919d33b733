import { wireName } from './names.js';

/** The documented loss function inputs; their names are fields. Every other name is data and never changed. */
const DOCUMENTED = ['targetTokens', 'weights', 'advantages', 'logprobs', 'clipLowThreshold', 'clipHighThreshold'];

const TO_WIRE = new Map(DOCUMENTED.map((name) => [name, wireName(name)]));
const TO_DOMAIN = new Map(DOCUMENTED.map((name) => [wireName(name), name]));

/** How a loss function input is called on the wire. */
export function lossInputWireName(name: string): string {
  return TO_WIRE.get(name) ?? name;
}

/** How a loss function input of the wire is called here. */
export function lossInputDomainName(name: string): string {
  return TO_DOMAIN.get(name) ?? name;
}
