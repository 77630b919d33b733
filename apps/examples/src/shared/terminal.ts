const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34 } as const;

/** Whether output goes to a person's terminal: only then lines are rewritten in place. */
export const isTerminal = process.stdout.isTTY === true;

const hasColours = isTerminal && !process.env.NO_COLOR;

/** The text in a colour; the text alone in files, pipes, and where `NO_COLOR` is set. */
export function paint(colour: keyof typeof codes, text: string): string {
  return hasColours ? `\x1b[${codes[colour]}m${text}\x1b[0m` : text;
}

/** Characters that fit into a line. */
export function terminalWidth(): number {
  return process.stdout.columns || 80;
}
