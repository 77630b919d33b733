import { redactText } from '@tinkex/types/wire';

const maxRemembered = 2_000;
const remembered = new Map<string, string>();

/**
 * A redacted text of at most 200 characters, for texts that come again and again: base URLs, operation names, error codes. Each is looked at
 * once; what is remembered is bounded.
 */
export function safeText(text: string): string {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  if (remembered.size >= maxRemembered) remembered.clear();
  const made = redactText(text, 200);
  remembered.set(text, made);
  return made;
}
