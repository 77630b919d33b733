/** A way to use the packages: what a user installs, and everything that may then be found in `node_modules`. */
export interface InstallSet {
  readonly name: string;
  /** The published packages the user asks for, by folder name. */
  readonly packages: readonly string[];
  /** All installed packages, ours and others', and nothing else. */
  readonly installed: readonly string[];
  /** Whether the consumer has Node's type declarations; a user of `@tinkex/types` in a browser has not. */
  readonly hasNodeTypes: boolean;
}

const TYPES = ['@tinkex/types', '@bufbuild/protobuf', 'zod'];
const HTTP = [...TYPES, '@tinkex/http', 'undici'];
const TELEMETRY = [...HTTP, '@tinkex/telemetry'];
const CLIENTS = [...TELEMETRY, '@tinkex/clients', 'modern-tar'];
const TESTKIT = ['@tinkex/testkit', 'commander', 'modern-tar'];

export const INSTALL_SETS: readonly InstallSet[] = [
  { name: 'types alone', packages: ['types'], installed: TYPES, hasNodeTypes: false },
  { name: 'types and http', packages: ['types', 'http'], installed: HTTP, hasNodeTypes: true },
  { name: 'http and testkit', packages: ['types', 'http', 'testkit'], installed: [...HTTP, ...TESTKIT], hasNodeTypes: true },
  { name: 'clients', packages: ['types', 'http', 'telemetry', 'clients'], installed: CLIENTS, hasNodeTypes: true },
  {
    name: 'everything',
    packages: ['types', 'http', 'telemetry', 'clients', 'testkit'],
    installed: [...new Set([...CLIENTS, ...TESTKIT])],
    hasNodeTypes: true,
  },
];
