const COLOR_CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34 } as const;

/** Whether output goes to a terminal. Only then are lines rewritten in place. */
export const isTerminal = canMove(process.stdout);

/** The text in a color, or unchanged in files, pipes, and if `NO_COLOR` is set. `stream` is where the text will be written. */
export function paint(color: keyof typeof COLOR_CODES, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return canMove(stream) && !process.env.NO_COLOR ? `\x1b[${COLOR_CODES[color]}m${text}\x1b[0m` : text;
}

function canMove(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env.TERM !== 'dumb';
}

/** Characters that fit on a line. */
export function terminalWidth(): number {
  return process.stdout.columns || 80;
}

/** Lines that fit on the screen. */
export function terminalHeight(): number {
  return process.stdout.rows || 24;
}

/** Text of a model in quotes, without anything that a terminal could take for a control sequence. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\x7f-\x9f]/g, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
