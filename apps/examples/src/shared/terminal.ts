const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34 } as const;

/** Whether output goes to a person's terminal: only then lines are rewritten in place. */
export const isTerminal = canMove(process.stdout);

/** The text in a colour; the text alone in files, pipes, and where `NO_COLOR` is set. The stream is the one it is for, by default stdout. */
export function paint(colour: keyof typeof codes, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return canMove(stream) && !process.env.NO_COLOR ? `\x1b[${codes[colour]}m${text}\x1b[0m` : text;
}

function canMove(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env.TERM !== 'dumb';
}

/** Characters that fit into a line. */
export function terminalWidth(): number {
  return process.stdout.columns || 80;
}

/** Lines that fit on the screen. */
export function terminalHeight(): number {
  return process.stdout.rows || 24;
}

/** What a model wrote, in quotes and without anything a terminal could take for an order. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\x7f-\x9f]/g, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
