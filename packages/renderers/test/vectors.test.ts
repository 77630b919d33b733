import { beforeAll, describe, expect, it } from 'vitest';
import { classifyParseFailure, encodeMessage, type Renderer, type ResponseDelta } from '../src/index.js';
import {
  attempt,
  type Case,
  conversationOf,
  decodeMessages,
  type Example,
  isRefusal,
  type Message,
  OPENAI_INPUTS,
  type ParseCase,
  RENDERER_FILES,
  readVectors,
  rendererOf,
  runLengths,
  type TrainOnWhat,
  type VectorFile,
} from './harness/vectors.js';

/** Compares many cases in one test and shows the first that differ. */
class Comparison {
  readonly #differences: string[] = [];
  count = 0;

  equal(id: string, actual: unknown, expected: unknown): void {
    this.count += 1;
    const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (found !== wanted) this.#differences.push(`${id}\n  got      ${found}\n  expected ${wanted}`);
  }

  finish(): void {
    expect(this.#differences.slice(0, 3), `${this.#differences.length} of ${this.count} cases differ`).toEqual([]);
    expect(this.count).toBeGreaterThan(0);
  }
}

const exampleOf = ({ modelInput, weights }: ReturnType<Renderer['buildSupervisedExample']>): Example => ({
  t: Array.from(modelInput.toInts()),
  w: runLengths(weights),
});

/** The messages of a case, behind what declares its tools. */
function messagesOf(renderer: Renderer, vector: Case): Message[] {
  const { messages, tools, systemPrompt } = conversationOf(vector);
  return vector.tools === undefined ? messages : [...renderer.createConversationPrefixWithTools(tools, systemPrompt), ...messages];
}

const idOf = ({ conv, tools }: Case) => conv ?? tools ?? '';

/** What Python's own JSON reader says after this is not compared. */
const shorten = (text: string) => text.replace(/(Invalid JSON: ).*/s, '$1');

function comparableMessage(message: unknown): unknown {
  const { unparsed_tool_calls, ...rest } = message as { unparsed_tool_calls?: readonly { raw_text: string; error: string }[] };
  if (unparsed_tool_calls === undefined) return sorted(rest);
  return sorted({ ...rest, unparsed_tool_calls: unparsed_tool_calls.map((call) => ({ ...call, error: shorten(call.error) })) });
}

/** The order of fields does not matter. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

const pushing = (renderer: Renderer, tokens: readonly number[]) => {
  const stream = renderer.streamResponse({ thinkingPrefilled: false, toolCalls: 'text' });
  const deltas = tokens.flatMap((token, index) => stream.push([token]).map((delta) => compactDelta(index + 1, delta)));
  const finished = stream.finish();
  return {
    deltas: [...deltas, ...finished.deltas.map((delta) => compactDelta(-1, delta))],
    final: comparableMessage(encodeMessage(finished.message)),
  };
};

function compactDelta(count: number, delta: ResponseDelta): readonly unknown[] {
  if (delta.type === 'header') return [count, 'h', delta.role];
  if (delta.type === 'text') return [count, 't', delta.text, delta.contentIndex];
  if (delta.type === 'thinking') return [count, 'k', delta.thinking, delta.contentIndex];
  return [count, 'c', delta.toolCall.function.name];
}

/** The reference looks ahead for a closing tag and puts the opening in front, which a live stream knows from the prompt. */
function reopened(renderer: Renderer, tokens: readonly number[]): readonly number[] {
  const opening = /^(qwen3_5|qwen3_8|nemotron3)/.test(renderer.name)
    ? Array.from(renderer.tokenizer.encode('<think>\n'))
    : /^(qwen3|kimi_k2$|deepseekv3$|deepseekv3_disable|deepseekv4_1_disable)/.test(renderer.name)
      ? []
      : Array.from(renderer.tokenizer.encode('<think>'));
  const closing = renderer.tokenizer.tokenId('</think>') as number;
  return tokens.includes(closing) && !opening.every((token, index) => tokens[index] === token) ? [...opening, ...tokens] : tokens;
}

/** Declares a test only for files that have such cases, so that none is ever reported as skipped. */
function onlyIf(isThere: boolean): (name: string, test: () => void) => void {
  return (name, test) => {
    if (isThere) it(name, test);
  };
}

describe.each(RENDERER_FILES)('%s', (file) => {
  const vectors = readVectors<VectorFile>(file);
  const { cases, parse = [], stream = [], openai = [], props } = vectors;
  let renderer: Renderer;

  beforeAll(() => {
    renderer = rendererOf(vectors);
  });

  it('has the properties of the reference', () => {
    expect(renderer.getStopSequences()).toEqual(props.stop_sequences);
    expect(renderer.hasExtensionProperty).toBe(props.has_extension_property);
    // Llama 3 and gpt-oss stream here, which they do not in the reference.
    if (props.supports_streaming === true) expect(renderer.supportsStreaming).toBe(true);
  });

  it('writes the prompts of the reference', () => {
    const comparison = new Comparison();
    for (const vector of cases) {
      if (vector.prefix !== undefined) comparison.equal(`${idOf(vector)} prefix`, ...prefixesOf(renderer, vector));
      if (vector.prefix !== undefined && isRefusal(vector.prefix)) continue;
      const messages = attempt(() => messagesOf(renderer, vector));
      const prompt = (given: Renderer, options = {}) =>
        messages === 'refused' ? messages : attempt(() => Array.from(given.buildGenerationPrompt(messages, options).toInts()));
      if (vector.gen !== undefined) comparison.equal(idOf(vector), prompt(renderer), isRefusal(vector.gen) ? 'refused' : vector.gen.t);
      for (const { t, err, effort, ...options } of vector.variants ?? []) {
        const id = `${idOf(vector)} ${JSON.stringify({ effort, ...options })}`;
        const actual = attempt(() => prompt(effort === undefined ? renderer : rendererOf(vectors, { effort }), options));
        comparison.equal(id, actual, err === undefined ? t : 'refused');
      }
    }
    comparison.finish();
  });

  it('weighs the tokens of the reference in every mode', () => {
    const comparison = new Comparison();
    for (const vector of cases) {
      if (vector.sup === undefined) continue;
      const messages = messagesOf(renderer, vector);
      const build = (mode: string) => attempt(() => exampleOf(renderer.buildSupervisedExample(messages, mode as TrainOnWhat)));
      if (isRefusal(vector.sup)) {
        comparison.equal(idOf(vector), build('last_assistant_message'), 'refused');
        continue;
      }
      const { t } = vector.sup;
      for (const [mode, w] of Object.entries(vector.sup.w)) {
        const expected = isRefusal(w) ? 'refused' : 'w' in w ? { t: w.t, w: w.w } : { t, w };
        comparison.equal(`${idOf(vector)} ${mode}`, build(mode), expected);
      }
    }
    comparison.finish();
  });

  onlyIf(cases.some(({ examples }) => examples !== undefined))('splits conversations into the examples of the reference', () => {
    const comparison = new Comparison();
    for (const vector of cases) {
      for (const [mode, expected] of Object.entries(vector.examples ?? {})) {
        const trainOnWhat = mode === 'default' ? undefined : (mode as TrainOnWhat);
        const actual = attempt(() => renderer.buildSupervisedExamples(messagesOf(renderer, vector), trainOnWhat).map(exampleOf));
        comparison.equal(`${idOf(vector)} ${mode}`, actual, isRefusal(expected) ? 'refused' : expected.map(({ t, w }) => ({ t, w })));
      }
    }
    comparison.finish();
  });

  onlyIf(parse.length > 0)('reads responses as the reference does', () => {
    const comparison = new Comparison();
    for (const vector of parse) comparison.equal(vector.id, parsed(renderer, vector), expectedParse(vector));
    comparison.finish();
  });

  onlyIf(stream.length > 0)('streams responses as the reference does', () => {
    const comparison = new Comparison();
    for (const vector of stream) {
      const expected = { deltas: vector.deltas, final: comparableMessage(vector.final) };
      comparison.equal(vector.id, pushing(renderer, reopened(renderer, vector.in)), expected);
    }
    comparison.finish();
  });

  onlyIf(openai.length > 0)('writes messages for Hugging Face templates as the reference does', () => {
    const comparison = new Comparison();
    OPENAI_INPUTS.forEach((message, index) => {
      const actual = attempt(() => renderer.toOpenAIMessage(message));
      comparison.equal(`openai_inputs[${index}]`, sorted(actual), isRefusal(openai[index]) ? 'refused' : sorted(openai[index]));
    });
    comparison.finish();
  });
});

function prefixesOf(renderer: Renderer, vector: Case): [actual: unknown, expected: unknown] {
  const { tools, systemPrompt } = conversationOf(vector);
  const actual = attempt(() => renderer.createConversationPrefixWithTools(tools, systemPrompt).map(encodeMessage));
  const { prefix } = vector;
  return [sorted(actual), isRefusal(prefix) ? 'refused' : sorted(decodeMessages(prefix as unknown[]).map(encodeMessage))];
}

function parsed(renderer: Renderer, vector: ParseCase): unknown {
  return attempt(() => {
    const { message, termination } = renderer.parseResponse(vector.in);
    const failure = classifyParseFailure(message, termination);
    return { message: comparableMessage(encodeMessage(message)), termination, failure: failure && [failure.kind, shorten(failure.detail)] };
  });
}

function expectedParse({ message, termination, failure, err }: ParseCase): unknown {
  if (err !== undefined) return 'refused';
  return { message: comparableMessage(message), termination, failure: failure && [failure[0], shorten(failure[1])] };
}
