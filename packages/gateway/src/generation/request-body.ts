import type * as z from 'zod';
import { GatewayFailure } from '../failure.js';

/** The body of a request, checked. Throws a failure that names the first wrong field. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(body);
  if (error === undefined) return data as T;
  const [issue] = error.issues;
  const param = issue?.path.join('.') ?? '';
  throw new GatewayFailure('invalid_request', param === '' ? `${issue?.message}.` : `${param}: ${issue?.message}.`, {
    param: param || undefined,
  });
}

/** Refuses settings that would be ignored. */
export function refuseSettings(
  body: Readonly<Record<string, unknown>>,
  unsupported: readonly string[],
  isHarmless: (value: unknown) => boolean,
): void {
  const found = unsupported.find((name) => body[name] !== undefined && body[name] !== null && !isHarmless(body[name]));
  if (found !== undefined) {
    throw new GatewayFailure('invalid_request', `${found} is not supported by this gateway. Leave it out.`, { param: found });
  }
}
