import { redactText } from '../redaction/redact-text.js';

/** Turns a base URL into a label value. */
export type BaseUrlLabel = (baseUrl: string) => string;

/** Redacts each base URL once: it is the label of nearly every series, and the same few strings come again and again. */
export function baseUrlLabel(): BaseUrlLabel {
  const known = new Map<string, string>();
  return (baseUrl) => {
    const label = known.get(baseUrl);
    if (label !== undefined) return label;
    if (known.size >= 1_000) known.clear();
    const made = redactText(baseUrl, 200);
    known.set(baseUrl, made);
    return made;
  };
}
