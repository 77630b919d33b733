/** The compilers, bundlers, test runners, frameworks and instrumentations that users have, as npm packages. A compiler has its version in its name, because there are several. */
export const PINS = {
  'typescript-5.4': 'npm:typescript@5.4.5',
  'typescript-5.9': 'npm:typescript@5.9.3',
  'typescript-6.0': 'npm:typescript@6.0.3',
  'typescript-7.0': 'npm:typescript@7.0.2',
  '@types/node': '20.19.43',
  esbuild: '0.28.2',
  webpack: '5.112.2',
  rollup: '4.68.3',
  '@rollup/plugin-commonjs': '29.0.3',
  '@rollup/plugin-json': '6.1.0',
  '@rollup/plugin-node-resolve': '16.0.3',
  vite: '8.3.8',
  jest: '30.5.2',
  vitest: '4.1.12',
  '@opentelemetry/api': '1.9.0',
  '@opentelemetry/context-async-hooks': '2.12.0',
  '@opentelemetry/instrumentation-undici': '0.28.0',
  '@opentelemetry/sdk-trace-base': '2.12.0',
  ai: '6.0.322',
  express: '5.3.0',
} as const;

/** Only the weekly run installs it, because it needs Node 22. */
export const AI_PINS = { ai: '7.0.173', zod: '4.6.7' } as const;

/** Only the weekly run installs it: it is larger than all others together. */
export const NEXT_PINS = { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1', ai: '6.0.322', '@ai-sdk/react': '3.0.323' } as const;
