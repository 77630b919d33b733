/** Colors and weights of a terminal; without colors each function returns its text unchanged. */
export interface Style {
  readonly isColored: boolean;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

/** The style of a stream. */
export function createStyle(isColored: boolean): Style {
  const paint = (name: keyof typeof CODES) => {
    const [on, off] = CODES[name];
    return (text: string) => (isColored && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text);
  };
  return {
    isColored,
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}
