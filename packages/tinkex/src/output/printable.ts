const CONTROLS = /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** Text from a server or a file, safe to print on one line: control characters, which could move the cursor or hide text, become visible. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (control) => {
    if (control === '\n') return '↵';
    return control === '\t' ? ' ' : `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
