import type { Mutation } from './mutations.js';

const VECTORS = ['test/vectors.test.ts'];
const BPE = ['src/tokenizers'];
const COMPLETER = ['test/completer.test.ts'];

/** A fault in a file of `@tinkex/renderers`. */
function fault(invariant: string, file: string, find: string, replace: string, tests: readonly string[] = VECTORS): Mutation {
  return { invariant: `renderers: ${invariant}`, file: `packages/renderers/src/${file}`, find, replace, package: 'renderers', tests };
}

/** What makes a template this template: at least one invariant of each family, and those of the shared core. */
export const rendererMutations: readonly Mutation[] = [
  fault(
    'role_colon ends an answer with the header of the user',
    'families/role-colon.ts',
    "'User:' : '<UNUSED>'",
    "'<UNUSED>' : '<UNUSED>'",
  ),
  fault('llama3 has a blank line after its header', 'families/llama3.ts', '<|end_header_id|>\\n\\n`', '<|end_header_id|>\\n`'),
  fault('qwen3 does not take special tokens from text', 'families/qwen3.ts', 'output: [ordinaryText(', 'output: [String('),
  fault(
    'qwen3 removes thinking from history',
    'families/qwen3.ts',
    "role === 'assistant' && !context.isLast;",
    "role === 'assistant' && context.isLast;",
  ),
  fault(
    'qwen3_vl merges texts into one piece',
    'families/qwen3-vl.ts',
    'output: mergeTexts([...content, calls, IM_END])',
    'output: [...content, calls, IM_END]',
  ),
  fault('qwen3_5 opens thinking in its prompt', 'families/qwen3-5.ts', "EMPTY_THINKING : '<think>\\n'", "EMPTY_THINKING : '<think>'"),
  fault(
    'qwen3_8 writes scalars as JSON',
    'families/qwen3-8.ts',
    "typeof value === 'string' ? value : dumpJson(value)",
    "typeof value === 'string' ? value : String(value)",
  ),
  fault(
    'nemotron3 always has a system message',
    'families/nemotron3.ts',
    "[{ role: 'system', content: '' }, ...messages]",
    '[...messages]',
  ),
  fault(
    'nemotron3 keeps the thinking of the current turn',
    'families/nemotron3.ts',
    'strips && index < lastUserIndex',
    'strips && index <= lastUserIndex + 1',
  ),
  fault('nemotron3 declares tools as XML', 'families/nemotron3-tools.ts', 'dumpJson(required)', 'String(required)'),
  fault('the answers of tools share one user turn', 'families/chatml-xml.ts', "isClosed ? IM_END : ''", 'isClosed ? IM_END : IM_END'),
  fault(
    'deepseekv3 does not end an empty message',
    'families/deepseek-v3.ts',
    "content.length === 0 ? '' : EOS",
    "content.length < 0 ? '' : EOS",
  ),
  fault(
    'deepseekv4_1 puts results in the order of their calls',
    'families/deepseek-v4-1-conversation.ts',
    'order(left) - order(right)',
    'order(right) - order(left)',
  ),
  fault(
    'deepseekv4_1 marks parameters that are text',
    'families/deepseek-v4-1.ts',
    'const isText = typeof value ===',
    'const isText = typeof value !==',
  ),
  fault('deepseekv4_1 refuses text after its calls', 'families/deepseek-v4-1-response.ts', 'if (!isBlank(rest))', 'if (isBlank(rest))'),
  fault(
    'kimi remembers thinking until an answer without calls',
    'families/kimi.ts',
    "role === 'assistant' && toolCalls.length === 0",
    "role === 'assistant' && toolCalls.length >= 0",
  ),
  fault('kimi declares required properties first', 'families/kimi-declarations.ts', "order === 'as given'", "order !== 'as given'"),
  fault(
    'glm5_3 ends calls with an observation',
    'families/glm5-3.ts',
    'toolCalls.length > 0 ? ROLES.tool : ROLES.user',
    'toolCalls.length < 0 ? ROLES.tool : ROLES.user',
  ),
  fault(
    'gpt_oss ends only the last answer with return',
    'families/gpt-oss.ts',
    "isLast ? '<|return|>' : '<|end|>'",
    "isLast ? '<|return|>' : '<|return|>'",
  ),
  fault('gpt_oss separates calls from answers', 'families/gpt-oss-response.ts', "if (kind === 'call')", "if (kind === 'other')"),
  fault(
    'gpt_oss marks optional properties',
    'families/gpt-oss-declarations.ts',
    "required.includes(name) ? '' : '?'",
    "required.includes(name) ? '?' : ''",
  ),
  fault(
    'tml_v0 never takes a special token from text',
    'families/tml-v0.ts',
    "return ['<|content_text|>', plainText(part.text)];",
    "return ['<|content_text|>', part.text];",
  ),
  fault('tml_v0 refuses a call by another name', 'families/tml-v0-response.ts', 'called !== name ||', ''),
  fault(
    'images take as many tokens as counted',
    'families/images.ts',
    'return { chunk, length };',
    'return { chunk, length: length + 1 };',
    ['test/images.test.ts'],
  ),
  fault('the prompt is not trained on', 'core/grammar-renderer.ts', 'example.weights.fill(0, 0, prompt.length)', 'example.weights'),
  fault(
    'headers are trained on only with all_tokens',
    'core/grammar-renderer.ts',
    "trainOnWhat === 'all_tokens' ? 1 : 0",
    "trainOnWhat === 'all_messages' ? 1 : 0",
  ),
  fault('floats are written as Python does', 'core/python-json.ts', 'formatFloat(value, -4,', 'formatFloat(value, -7,'),
  fault(
    'keys keep their order',
    'core/python-json-reader.ts',
    'entries.set(key, this.readValue(depth + 1));',
    'entries.delete(key), entries.set(key, this.readValue(depth + 1));',
  ),
  fault('half a character is never shown', 'core/token-text.ts', 'if (text.endsWith(REPLACEMENT)) continue;', '', [
    'test/helpers.test.ts',
    'test/vectors.test.ts',
  ]),
  fault('half a tag is never shown', 'parsing/tag-reader.ts', 'text.endsWith(tag.slice(0, length))', 'text === tag.slice(0, length + 1)'),
  fault(
    'a call that cannot be read is kept',
    'parsing/tool-calls.ts',
    'results.unparsedToolCalls.push({ rawText, error: error.message });',
    '',
  ),
  fault('two stop tokens are refused', 'parsing/stop-token-format.ts', 'if (stopCount === 1)', 'if (stopCount >= 1)'),
  fault(
    'weights of an example sum to 1',
    'training/datum-from-weights.ts',
    "if (reduction === 'none') return weights;",
    "if (reduction === 'mean') return weights;",
    ['test/datum.test.ts'],
  ),
  fault(
    'of equal ranks the leftmost merges first',
    'tokenizers/merge-tokens.ts',
    'this.#push(rank * POSITIONS + left)',
    'this.#push(rank * POSITIONS - left)',
    BPE,
  ),
  fault('a pair that changed is not merged', 'tokenizers/merge-tokens.ts', 'if (ranks[position] !== rank) continue;', '', BPE),
  fault(
    'added tokens: the longest wins',
    'tokenizers/added-token-finder.ts',
    'other.content.length - one.content.length',
    'one.content.length - other.content.length',
    BPE,
  ),
  fault(
    'white space is Unicode’s',
    'tokenizers/split-pattern.ts',
    "if (kind === 's') return '\\\\p{White_Space}';",
    "if (kind === 's') return '\\\\s';",
    BPE,
  ),
  fault(
    'special tokens can stay text',
    'tokenizers/bpe-tokenizer.ts',
    "(which === 'ordinary' && !isSpecial)",
    "(which === 'ordinary' && isSpecial)",
    BPE,
  ),
  fault(
    'a stop text across pieces ends the sample',
    'completer/sample-in-pieces.ts',
    'if (pieceTokens === undefined || known === 0) return undefined;',
    'if (known >= 0) return undefined;',
    COMPLETER,
  ),
  fault('maxTokens counts across pieces', 'completer/sample-in-pieces.ts', 'limit - sampled.length);', 'limit);', COMPLETER),
  fault('text that may begin a stop is held back', 'completer/stop-rules.ts', 'all.length - this.#heldBack(all)', 'all.length', COMPLETER),
  fault('an aborted call makes no request', 'completer/sampler.ts', 'if (signal?.aborted)', 'if (signal === null)', COMPLETER),
  fault(
    'a template that rewrites history is refused',
    'templates/template-spans.ts',
    'if (text.startsWith(prefix)) return;',
    'if (prefix !== text) return;',
    ['test/templates.test.ts'],
  ),
  fault('what follows the stop token is not trained on', 'templates/template-renderer.ts', 'stop < 0 || index <= stop ? 1 : 0', '1', [
    'test/templates.test.ts',
  ]),
  fault('HTML is escaped', 'view/show-example-html.ts', 'ENTITIES[character] ?? character', 'character', ['test/view.test.ts']),
];
