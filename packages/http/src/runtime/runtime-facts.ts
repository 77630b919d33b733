/** What the program runs in, in the words of the `x-stainless-*` headers. */
export interface RuntimeFacts {
  /** `node`, `bun`, `deno` or `unknown`. */
  readonly runtime: string;
  readonly runtimeVersion: string;
  /** Node's names: `linux`, `darwin`, `win32`; `unknown` where the runtime does not say. */
  readonly platform: string;
  readonly arch: string;
}

interface Globals {
  readonly process?: Partial<Pick<NodeJS.Process, 'versions' | 'version' | 'platform' | 'arch'>>;
}

/** Bun and Deno also claim to be a Node; their own name wins. */
export function runtimeFacts({ process = {} }: Globals = globalThis): RuntimeFacts {
  const { versions, version, platform = 'unknown', arch = 'unknown' } = process;
  for (const runtime of ['bun', 'deno'] as const) {
    const own = versions?.[runtime];
    if (own !== undefined) return { runtime, runtimeVersion: `v${own}`, platform, arch };
  }
  const isNode = versions?.node !== undefined;
  return { runtime: isNode ? 'node' : 'unknown', runtimeVersion: (isNode ? version : undefined) ?? 'unknown', platform, arch };
}
