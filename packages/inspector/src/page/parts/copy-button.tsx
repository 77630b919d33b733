import { useState } from 'preact/hooks';

const SHOWN_MS = 1_500;

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  }
  return (
    <button type="button" class="button" onClick={() => void copy()} title={text}>
      {isCopied ? 'Copied' : label}
    </button>
  );
}
