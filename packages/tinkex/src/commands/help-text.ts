/** Examples for the end of a help page: what to type, and what it does. */
export function examples(...lines: readonly (readonly [command: string, meaning: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length));
  return `\nExamples:\n${lines.map(([command, meaning]) => `  $ tinkex ${command.padEnd(width)}  ${meaning}`).join('\n')}`;
}
