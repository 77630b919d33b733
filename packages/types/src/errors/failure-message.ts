/** Where servers put what went wrong, in the order in which it is looked for: sentences first, what may be a mere code last. */
const MESSAGE_FIELDS = ['detail', 'message', 'error_message', 'error'] as const;

/**
 * What the body of a failed call says about the failure: its text, or the first of `detail`, `message`, `error_message` and `error`
 * that says something. A field that holds an object is searched in the same way; without such a field its JSON is the message.
 *
 * @param body - Parsed JSON, or text.
 * @returns Not redacted and not cut; `undefined` if the body says nothing.
 */
export function failureMessage(body: unknown): string | undefined {
  if (typeof body === 'string') return body === '' ? undefined : body;
  if (typeof body !== 'object' || body === null) return undefined;
  for (const field of MESSAGE_FIELDS) {
    const value = (body as Readonly<Record<string, unknown>>)[field];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'object' && value !== null) return failureMessage(value) ?? jsonText(value);
  }
  return undefined;
}

function jsonText(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'a body that cannot be shown';
  }
}
