import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  getRenderer,
  type Message,
  type Renderer,
  type RendererOptions,
  type ResponseDelta,
  rendererNames,
  type SupervisedExample,
} from '../src/index.js';
import { textOf, thinkingOf } from '../src/messages/content.js';
import { type Abilities, abilitiesOf, assistantTurn, conversation, PROPERTY_RUNS, text } from './harness/random-conversations.js';
import { tokenizerOf } from './harness/tokenizers.js';

const tokenizer = tokenizerOf('stand-in');
const RENDERERS = rendererNames().map((name) => getRenderer(name, tokenizer));
/** A long run takes its time. */
const timeout = Math.max(60_000, PROPERTY_RUNS * 30);
const runs = { numRuns: PROPERTY_RUNS, seed: 23 };

/** What a message means, whichever way it is written down. What separates text from calls stays with the text, as in the reference. */
const meaningOf = ({ content, toolCalls = [] }: Message) => ({
  thinking: thinkingOf(content),
  text: textOf(content).trim(),
  calls: toolCalls.map(({ function: called }) => [called.name, JSON.parse(called.arguments)]),
});

const tokensOf = ({ modelInput }: SupervisedExample) => Array.from(modelInput.toInts());
const startsWith = (tokens: readonly number[], prefix: readonly number[]) => prefix.every((token, index) => tokens[index] === token);

/** A renderer, and something that its template can express. */
function withRenderer<T>(
  renderers: readonly Renderer[],
  make: (abilities: Abilities, renderer: Renderer) => fc.Arbitrary<T>,
): fc.Arbitrary<[Renderer, T]> {
  return fc.constantFrom(...renderers).chain((renderer) => fc.tuple(fc.constant(renderer), make(abilitiesOf(renderer), renderer)));
}

/** The prompt in front of the last message, and what the model writes after it. */
function produced(
  renderer: Renderer,
  messages: readonly Message[],
): { readonly prompt: number[]; readonly tokens: number[]; readonly example: SupervisedExample } {
  const example = renderer.buildSupervisedExample(messages, 'last_assistant_message');
  const prompt = Array.from(renderer.buildGenerationPrompt(messages.slice(0, -1)).toInts());
  return { prompt, tokens: tokensOf(example), example };
}

describe('random conversations', { timeout }, () => {
  it('come back: reading what was written gives the same turn', () => {
    const turns = withRenderer(RENDERERS, (abilities) => fc.tuple(text, assistantTurn(abilities)));
    fc.assert(
      fc.property(turns, ([renderer, [question, turn]]) => {
        const { tokens, example } = produced(renderer, [{ role: 'user', content: question }, turn]);
        const response = tokens.slice(example.weights.indexOf(1));
        const { message, termination } = renderer.parseResponse(response);
        expect(termination).toBe('stop_sequence');
        expect(meaningOf(message)).toEqual(meaningOf(turn));
        const stream = renderer.streamResponse();
        for (const token of response) stream.push([token]);
        expect(meaningOf(stream.finish().message)).toEqual(meaningOf(turn));
      }),
      runs,
    );
  });

  it('are masked so that exactly what follows the prompt is trained on', () => {
    fc.assert(
      fc.property(
        withRenderer(RENDERERS, (abilities) => conversation(abilities)),
        ([renderer, messages]) => {
          const { prompt, tokens, example } = produced(renderer, messages);
          const first = example.weights.indexOf(1);
          expect(first).toBeGreaterThan(0);
          expect(example.weights).toHaveLength(tokens.length);
          expect(example.weights.subarray(first).every((weight) => weight === 1)).toBe(true);
          // A template that writes an answer without thinking differently from what its prompt opens trains on all the answer instead.
          if (startsWith(tokens, prompt)) expect(first).toBe(prompt.length);
          else expect(first).toBeLessThanOrEqual(prompt.length);
          const { message } = renderer.parseResponse(tokens.slice(first));
          expect(meaningOf(message)).toEqual(meaningOf(messages.at(-1) as Message));
        },
      ),
      runs,
    );
  });

  it('have the same tokens in every mode, and modes that contain each other', () => {
    const usual = RENDERERS.filter(({ name }) => name !== 'tml_v0');
    fc.assert(
      fc.property(
        withRenderer(usual, (abilities) => conversation(abilities)),
        ([renderer, messages]) => {
          const all = renderer.buildSupervisedExample(messages, 'all_messages');
          const everything = renderer.buildSupervisedExample(messages, 'all_tokens');
          const assistant = renderer.buildSupervisedExample(messages, 'all_assistant_messages');
          const others = renderer.buildSupervisedExample(messages, 'all_user_and_system_messages');
          for (const example of [everything, assistant, others]) expect(tokensOf(example)).toEqual(tokensOf(all));
          const at = (example: SupervisedExample, index: number) => example.weights[index] as number;
          const isContained = all.weights.every(
            (weight, index) => at(assistant, index) + at(others, index) <= weight && weight <= at(everything, index),
          );
          expect(isContained).toBe(true);
        },
      ),
      { ...runs, numRuns: Math.ceil(PROPERTY_RUNS / 4) },
    );
  });

  it('extend each other where the renderer promises it', () => {
    const keeping = (name: string, options: RendererOptions = { stripThinkingFromHistory: false }) => getRenderer(name, tokenizer, options);
    const promising = [...RENDERERS, ...['qwen3', 'qwen3_vl', 'deepseekv3_thinking', 'deepseekv4_1'].map((name) => keeping(name))].filter(
      ({ hasExtensionProperty }) => hasExtensionProperty,
    );
    expect(promising.length).toBeGreaterThan(14);
    // Qwen3 instruct models do not think; DeepSeek V3.1 writes an answer without thinking differently once it is history.
    const thinking = ({ name }: Renderer) => (name === 'qwen3_instruct' ? false : name === 'deepseekv3_thinking' ? true : undefined);
    const drawn = withRenderer(promising, (abilities, renderer) => fc.tuple(conversation(abilities, thinking(renderer)), text));
    fc.assert(
      fc.property(drawn, ([renderer, [messages, question]]) => {
        const last = messages.at(-1) as Message;
        if ((last.toolCalls ?? []).length > 0) return;
        const example = renderer.buildSupervisedExample(messages, 'all_assistant_messages');
        const later = Array.from(renderer.buildGenerationPrompt([...messages, { role: 'user', content: question }]).toInts());
        expect(
          startsWith(later, tokensOf(example)),
          `${renderer.name}: ${tokenizer.decode(tokensOf(example))} | ${tokenizer.decode(later)}`,
        ).toBe(true);
      }),
      runs,
    );
  });
});

describe('malformed output', { timeout }, () => {
  const addedTokens = Array.from({ length: 80 }, (_, index) => 1000 + index);
  const invokeText = tokenizer.tokenId('<|content_invoke_tool_text|>');
  const noise = fc.array(
    fc.oneof(
      fc.integer({ min: 0, max: 999 }).map((token) => [token]),
      fc.constantFrom(...addedTokens).map((token) => [token]),
      fc
        .constantFrom(
          '<think>',
          '</think>',
          '<tool_call>',
          '{"name": "f", "arguments": {',
          '</tool_call>',
          ' to=functions.f',
          '<function=f>',
          '<parameter=',
          '<arg_key>k</arg_key>',
        )
        .map((part) => Array.from(tokenizer.encode(part))),
    ),
    { maxLength: 24 },
  );

  /** Noise, or a real response that was cut somewhere and damaged somewhere. */
  const responses = withRenderer(RENDERERS, (abilities, renderer) =>
    fc
      .tuple(
        noise,
        assistantTurn(abilities),
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 0, max: 1079 }),
        fc.constantFrom('noise', 'cut', 'damaged'),
      )
      .map(([pieces, turn, cut, place, token, kind]) => {
        const { tokens, example } = produced(renderer, [{ role: 'user', content: 'Q' }, turn]);
        const response = tokens.slice(example.weights.indexOf(1));
        const kept = response.slice(0, cut % (response.length + 1));
        if (kind === 'noise') return pieces.flat();
        return kind === 'cut' || kept.length === 0 ? kept : kept.with(place % kept.length, token);
      }),
  );

  /** What sampling can give: nothing after the first stop token. */
  function sampled(renderer: Renderer, tokens: readonly number[]): number[] {
    const stops: readonly (number | string)[] = renderer.getStopSequences();
    const usable = tokens.filter((token) => token !== invokeText);
    const end = usable.findIndex((token) => stops.includes(token));
    return end < 0 ? usable : usable.slice(0, end + 1);
  }

  const withoutTags = (written: string) => written.replaceAll('<think>', '').replaceAll('</think>', '');
  const textOfDeltas = (deltas: readonly ResponseDelta[]) =>
    deltas.map((delta) => (delta.type === 'text' ? delta.text : delta.type === 'thinking' ? delta.thinking : '')).join('');

  it('never throws, and keeps all its text', () => {
    fc.assert(
      fc.property(responses, ([renderer, tokens]) => {
        const response = sampled(renderer, tokens);
        const { message, termination } = renderer.parseResponse(response);
        const decoded = response.length === 0 ? '' : tokenizer.decode(response);
        if (termination === 'malformed' && renderer.name !== 'tml_v0' && renderer.name !== 'role_colon') {
          expect(typeof message.content).toBe('string');
          expect((message.content as string).endsWith(decoded)).toBe(true);
        }
        for (const toolCalls of ['text', 'parsed'] as const) {
          const stream = renderer.streamResponse({ toolCalls });
          const deltas = response.flatMap((token) => stream.push([token]));
          const finished = stream.finish();
          expect(finished.termination).toBe(termination);
          // Harmony does not show the headers of its messages, and a base model's answer ends with a text.
          if (toolCalls === 'parsed' || !renderer.supportsStreaming || /^(gpt_oss|role_colon)/.test(renderer.name)) continue;
          const stop = termination === 'malformed' ? [] : response.slice(-1);
          const body = response.slice(0, response.length - stop.length);
          const shown = textOfDeltas([...deltas, ...finished.deltas]);
          expect(withoutTags(shown).trim()).toBe(withoutTags(body.length === 0 ? '' : tokenizer.decode(body)).trim());
        }
      }),
      runs,
    );
  });
});
