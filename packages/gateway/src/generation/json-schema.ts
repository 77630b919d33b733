import * as z from 'zod';
import { GatewayFailure } from '../failure.js';

/** Checks that a text is JSON of a schema. Throws a failure for a schema that cannot be read. */
export function jsonTextCheck(schema: unknown, param: string): (text: string) => string | undefined {
  let type: z.ZodType;
  try {
    type = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw new GatewayFailure('invalid_request', `${param} is not a JSON schema that this gateway can check.`, { param, cause: error });
  }
  return (text) => {
    const parsed = parseJson(text);
    if (parsed === undefined) return 'it is not JSON';
    const { error } = type.safeParse(parsed.value);
    return error === undefined ? undefined : `it does not fit the schema (${z.prettifyError(error).replaceAll('\n', ' ')})`;
  };
}

/** Checks that a text is a JSON object. */
export function jsonObjectCheck(text: string): string | undefined {
  const parsed = parseJson(text);
  return typeof parsed?.value === 'object' && parsed.value !== null ? undefined : 'it is not a JSON object';
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
