import { redactText } from '@tinkex/types/wire';

const MAX_LENGTH = 200;
const MAX_REMEMBERED = 2_000;
const REMEMBERED = new Map<string, string>();

/** A redacted text of at most 200 characters, for texts that repeat: base URLs, operation names, error codes. Each is redacted once. */
export function safeText(text: string): string {
  const known = REMEMBERED.get(text);
  if (known !== undefined) return known;
  if (REMEMBERED.size >= MAX_REMEMBERED) REMEMBERED.clear();
  const safe = redactText(text, MAX_LENGTH);
  REMEMBERED.set(text, safe);
  return safe;
}
