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
    find: 'return { modelId, path, seqId, ...fields } as never;',
    replace: 'return { modelId, path, seqId, ...fields, ttlSeconds: undefined } as never;',
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
  {
    invariant: 'kinds: a checkpoint of an unknown kind keeps the list',
    file: 'packages/types/src/wire/checkpoints.ts',
    find: "checkpointType: openOneOf('training', 'sampler', 'external'),",
    replace: "checkpointType: { ...openOneOf('training'), ...text({ startsWith: 'training' }) },",
    package: 'types',
    tests: ['test/unknown-kinds.test.ts'],
  },
  {
    invariant: 'kinds: an object of an unknown kind is kept as it is',
    file: 'packages/types/src/wire/unions.ts',
    find: 'if (kind === undefined) return wire;',
    replace: '',
    package: 'types',
    tests: ['test/unknown-kinds.test.ts'],
  },
  {
    invariant: 'downloads: URLs are signed again before they expire',
    file: 'packages/clients/src/checkpoints/checkpoint-content.ts',
    find: 'this.#clock.now() < RENEWAL_MS ?',
    replace: 'this.#clock.now() < -Infinity ?',
    package: 'clients',
    tests: ['test/external-weights.test.ts'],
  },
  {
    invariant: 'downloads: a temporary export is deleted however the download ends',
    file: 'packages/clients/src/checkpoints/download-checkpoint.ts',
    find: '    await content.close();',
    replace: '    if (options.signal === undefined) await content.close();',
    package: 'clients',
    tests: ['test/external-weights.test.ts'],
  },
  {
    invariant: 'copies: all attempts carry one idempotency key',
    file: 'packages/clients/src/rest/copy-weights.ts',
    find: "{ 'x-idempotency-key': randomUUID(), ...step.headers }",
    replace: '{ ...step.headers }',
    package: 'clients',
    tests: ['test/external-weights.test.ts'],
  },
  {
    invariant: 'copies: a repeated key gives the same copy',
    file: 'packages/testkit/src/server/core.ts',
    find: "  'copyWeights',",
    replace: '',
    package: 'testkit',
    tests: ['test/external-weights.test.ts'],
  },
  ...rendererMutations,
  {
    invariant: 'optimizer mismatch: a client sends no settings of another optimizer',
    file: 'packages/clients/src/training/optimizer-settings.ts',
    find: 'settings[name] !== undefined && ADAM_ONLY.has(name)',
    replace: 'settings[name] === ADAM_ONLY',
    package: 'clients',
    tests: ['test/integration/optimizers.test.ts'],
  },
  {
    invariant: 'optimizer kept: a resumed model has the optimizer of its checkpoint',
    file: 'packages/clients/src/training/create-model.ts',
    find: 'const optimizer = request.optimizer ?? info.optimizerConfig;',
    replace: 'const optimizer = request.optimizer ?? DEFAULT_OPTIMIZER;',
    package: 'clients',
    tests: ['test/integration/optimizers.test.ts'],
  },
  {
    invariant: 'no silent AdamW: a step with settings of another optimizer has none of AdamW',
    file: 'packages/types/src/wire/optim-step.ts',
    find: 'request.adamParams !== undefined || request.optimizerParams !== undefined',
    replace: 'request.adamParams !== undefined',
    package: 'types',
    tests: ['test/optimizers.test.ts', 'test/vectors-json.test.ts'],
  },
  {
    invariant: 'no silent AdamW: the server refuses settings of another optimizer',
    file: 'packages/testkit/src/handlers/training.ts',
    find: 'if (given !== familyName(optimizer)) {',
    replace: "if (given === 'never') {",
    package: 'testkit',
    tests: ['test/optimizers.test.ts'],
  },
  {
    invariant: 'text settings: numbers go into both maps, texts only into the newer one',
    file: 'packages/types/src/proto/loss-config-writer.ts',
    find: "if (typeof value === 'number') writer.double(1, value);",
    replace: "if (typeof value === 'number') writer.double(1, -value);",
    package: 'types',
    tests: ['test/vectors-protobuf.test.ts'],
  },
  {
    invariant: 'provenance: spans cover their field exactly',
    file: 'packages/types/src/training/provenance.ts',
    find: 'expected[name] === undefined || expected[name] === covered',
    replace: 'expected[name] === undefined || expected[name] >= covered',
    package: 'types',
    tests: ['test/vectors-training.test.ts'],
  },
  {
    invariant: 'custom metrics: loss:sum is the value of the custom loss',
    file: 'packages/clients/src/training/custom-loss.ts',
    find: '...own, [LOSS]: loss,',
    replace: '[LOSS]: loss, ...metrics,',
    package: 'clients',
    tests: ['src/training/custom-loss.test.ts'],
  },
  {
    invariant: 'gspo: every masked target moves the ratio of the whole sequence',
    file: 'packages/testkit/src/engine/losses.ts',
    find: '(slope * (mask[index] as number)) / total',
    replace: 'slope * (mask[index] as number)',
    package: 'testkit',
    tests: ['test/engine/gradients.test.ts', 'test/engine/losses.test.ts'],
  },
];
