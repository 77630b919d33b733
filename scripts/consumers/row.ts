/** One thing that a user does with the packed packages. */
export interface Row {
  /** As the README's table names it: `webpack`, `TypeScript 5.4, nodenext`. */
  readonly name: string;
  /** Files of the project besides `package.json`, by their paths. */
  readonly files: Readonly<Record<string, string>>;
  /** Fields of `package.json`. Default: an ESM project. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Run one after the other in the project; `node` is this Node, other programs come from the toolbox. */
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  readonly env?: Readonly<Record<string, string>>;
  /** What the output of the last command must show. */
  readonly expected: string;
  /** Which lines of a failed command are about us. Default: all. */
  readonly isOurs?: (line: string) => boolean;
}
