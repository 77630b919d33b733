import { cookbookMutations } from './cookbook.js';
import { rendererMutations } from './renderers.js';

/** One deliberate fault: an invariant, the text that keeps it, and the tests that must notice when it is gone. */
export interface Mutation {
  readonly invariant: string;
  /** From the repository's root. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The package whose tests are run, and which of them. */
  readonly package: string;
  readonly tests: readonly string[];
}

/** The invariants that no test suite of this repository may let slip. */
export const mutations: readonly Mutation[] = [
  {
    invariant: 'seq order: a training operation waits for its turn',
    file: 'packages/clients/src/training/turn-queue.ts',
    find: 'start: (signal) => this.#start(place, signal),',
    replace: 'start: async () => void this.#start,',
    package: 'clients',
    tests: ['src/training/turn-queue.test.ts'],
  },
  {
    invariant: 'backoff maximum: no delay above ten seconds',
    file: 'packages/http/src/retry/backoff.ts',
    find: 'Math.min(baseMs * 2 ** failures, maxMs)',
    replace: 'baseMs * 2 ** failures',
    package: 'http',
    tests: ['src/retry/retry.test.ts', 'test/vectors.test.ts'],
  },
  {
    invariant: 'jitter bound: random takes off up to a quarter and never adds',
    file: 'packages/http/src/retry/backoff.ts',
    find: '1 - jitter * random()',
    replace: '1 + jitter * random()',
    package: 'http',
    tests: ['src/retry/retry.test.ts', 'test/vectors.test.ts'],
  },
  {
    invariant: 'redaction: only headers known to be harmless are shown',
    file: 'packages/types/src/redaction/redact-value.ts',
    find: 'SAFE.has(lower) ? headerText(value) : REDACTED',
    replace: "SAFE.has(lower) || lower === 'x-api-key' ? headerText(value) : REDACTED",
    package: 'types',
    tests: ['src/redaction/redact-value.test.ts'],
  },
  {
    invariant: 'chunk order: outputs come back in the order of the data',
    file: 'packages/types/src/training/combine-outputs.ts',
    find: '.concat(...outputs.map(',
    replace: '.concat(...outputs.toReversed().map(',
    package: 'types',
    tests: ['src/training/training.test.ts', 'test/vectors-training.test.ts'],
  },
  {
    invariant: 'metric weights: means weigh by loss outputs',
    file: 'packages/types/src/training/reduce-metrics.ts',
    find: 'sum + value * (weights[index] as number), 0) / total;',
    replace: 'sum + value * (weights[index] === undefined ? 0 : 1), 0) / values.length;',
    package: 'types',
    tests: ['src/training/training.test.ts', 'test/vectors-training.test.ts'],
  },
  {
    invariant: 'floor on polling: no busy loop on quick answers',
    file: 'packages/clients/src/futures/poll-decision.ts',
    find: 'return Math.max(OWN_FLOOR_MS(quickAnswers), pending * SHARE_MS_PER_PENDING);',
    replace: 'return Math.min(0, OWN_FLOOR_MS(quickAnswers), pending * SHARE_MS_PER_PENDING);',
    package: 'clients',
    tests: ['src/futures/poller.test.ts'],
  },
  {
    invariant: 'idempotent seq on retry: every attempt of a sample has the same number',
    file: 'packages/clients/src/sampling/sample-call.ts',
    find: 'this.#seqId ??= seqIds.next();',
    replace: 'this.#seqId = seqIds.next();',
    package: 'clients',
    tests: ['test/integration/sampling-workflow.test.ts'],
  },
  {
    invariant: 'TTL: the time to live of a save reaches the server',
    file: 'packages/clients/src/training/saves.ts',
    find: 'const body = { modelId, path, seqId, ttlSeconds,',
    replace: 'const body = { modelId, path, seqId,',
    package: 'clients',
    tests: ['test/integration/python-recording.test.ts'],
  },
  {
    invariant: 'tar traversal: no entry of an archive leaves its directory',
    file: 'packages/clients/src/checkpoints/entry-path.ts',
    find: "if (segments.includes('..')) throw unsafe(name, 'leaves its directory');",
    replace: '',
    package: 'clients',
    tests: ['src/checkpoints/extract-archive.test.ts'],
  },
  ...rendererMutations,
  ...cookbookMutations,
];
