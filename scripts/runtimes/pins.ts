/** The runtimes besides Node in which `@tinkex/types` is checked, as npm packages. The registry has their binaries: nothing is fetched from elsewhere. */
export const PINS = {
  bun: '1.4.4',
  deno: '2.9.6',
  /** A whole Chromium, for machines that have no browser. Linux on x64 only. */
  '@sparticuz/chromium': '153.0.0',
} as const;

/** The versions of Node that are promised. The oldest is the one in `engines`. */
export const NODE_VERSIONS = ['20.19', '22', '24'] as const;
