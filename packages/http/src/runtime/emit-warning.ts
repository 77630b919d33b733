/** What kind of warning it is. */
export interface WarningKind {
  readonly type?: string | undefined;
  readonly code?: string | undefined;
}

/** Warns the user outside of any call: as a process warning, which Node prints and programs can listen to, else on the console. */
export function emitWarning(warning: string | Error, { type, code }: WarningKind = {}): void {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  // biome-ignore lint/suspicious/noConsole: nothing else reaches the user of such a runtime.
  if (process?.emitWarning === undefined) console.warn(String(warning));
  else process.emitWarning(warning, { ...(type === undefined ? {} : { type }), ...(code === undefined ? {} : { code }) });
}
