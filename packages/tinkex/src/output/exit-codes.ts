/** How the command ends. Documented in the README and in `tinkex --help`. */
export const EXIT = {
  success: 0,
  /** Any failure that has no code below. */
  failure: 1,
  /** A command, option or argument that does not exist or does not fit. */
  usage: 2,
  /** A data file or a configuration has invalid content. Nothing was sent or trained. */
  invalidData: 3,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
} as const;

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
