/**
 * What test files import instead of vitest in runtimes that vitest does not run in: the same matchers, and just enough of a runner. Tests that need
 * Node (`vi`, `node:*`) are skipped and counted.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect';

type Work = (...args: never[]) => unknown;
interface Test {
  readonly name: string;
  readonly run: () => unknown;
}

/** Thrown by everything that only Node has. */
export class NeedsNode extends Error {}

const tests: Test[] = [];
let path: readonly string[] = [];
let hooks: { readonly before: readonly Work[]; readonly after: readonly Work[] } = { before: [], after: [] };

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
/** vitest's `expect`. */
export const expect: unknown = Object.assign(chai.expect, (globalThis as Record<symbol, object>)[ASYMMETRIC_MATCHERS_OBJECT]);
Object.assign(globalThis, { [GLOBAL_EXPECT]: expect });
setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect as never);

/** Types were checked by the compiler. */
export const expectTypeOf = (): unknown => new Proxy(() => undefined, { get: () => expectTypeOf(), apply: () => expectTypeOf() });
export const vi: unknown = needingNode('vi');

function needingNode(what: string): unknown {
  return new Proxy({}, { get: (_, name) => () => fail(`${what}.${String(name)}`) });
}

function fail(what: string): never {
  throw new NeedsNode(what);
}

export const describe = withEach((name, work) => {
  const outer = { path, hooks };
  path = [...path, name];
  work();
  ({ path, hooks } = outer);
});
export const it = withEach((name, work) => {
  const { before, after } = hooks;
  tests.push({
    name: [...path, name].join(' > '),
    run: async () => {
      for (const hook of before) await hook();
      try {
        await work();
      } finally {
        for (const hook of after) await hook();
      }
    },
  });
});
export const beforeEach = (hook: Work): void => {
  hooks = { ...hooks, before: [...hooks.before, hook] };
};
export const afterEach = (hook: Work): void => {
  hooks = { ...hooks, after: [...hooks.after, hook] };
};
export const beforeAll = (hook: Work): void => {
  let result: unknown;
  beforeEach(() => {
    result ??= hook() ?? true;
    return result;
  });
};
/** The process ends soon enough. */
export const afterAll = (): void => undefined;

function withEach(declare: (name: string, work: () => unknown) => void): unknown {
  const last = (args: readonly unknown[]): Work => args.findLast((one) => typeof one === 'function') as Work;
  const rows =
    (isSpread: boolean) =>
    (cases: readonly unknown[]) =>
    (name: string, ...args: readonly unknown[]) => {
      for (const [index, row] of cases.entries()) {
        const values = isSpread && Array.isArray(row) ? row : [row];
        declare(`${name} [${index}]`, () => last(args)(...(values as never[])));
      }
    };
  const one = (name: string, ...args: readonly unknown[]): void => declare(name, last(args) as () => unknown);
  return Object.assign(one, { each: rows(true), for: rows(false) });
}

/** Loads the test files, runs their tests, and gives the report: the runtime, each failure on a line, how many were skipped and how many passed. */
export async function runTests(files: Readonly<Record<string, () => Promise<unknown>>>): Promise<string> {
  const failures: string[] = [];
  let skipped = 0;
  const attempt = async (name: string, work: () => unknown): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof NeedsNode) skipped += 1;
      else
        failures.push(
          `failed: ${name}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`.replaceAll('\n', ' '),
        );
      return false;
    }
  };
  for (const [file, load] of Object.entries(files)) {
    path = [file];
    hooks = { before: [], after: [] };
    await attempt(file, load);
  }
  let passed = 0;
  for (const { name, run } of tests) if (await attempt(name, run)) passed += 1;
  const { navigator } = globalThis as { navigator?: { readonly userAgent?: string } };
  return [`runtime: ${navigator?.userAgent ?? 'unnamed'}`, ...failures, `${skipped} skipped: need Node`, `${passed} checks passed`].join(
    '\n',
  );
}
