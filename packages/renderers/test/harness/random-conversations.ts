import fc from 'fast-check';
import type { Message, Renderer, ToolCall } from '../../src/index.js';

/** How many random conversations a suite tries: `TINKEX_PROPERTY_RUNS=100000` for the long run. */
export const PROPERTY_RUNS = Number(process.env.TINKEX_PROPERTY_RUNS ?? 2_000);

/** What the template of a renderer can say and hear. */
export interface Abilities {
  readonly thinks: boolean;
  readonly maxCalls: number;
  /** Whether a message with calls can be given back when it says nothing else. */
  readonly needsText: boolean;
}

export function abilitiesOf({ name }: Pick<Renderer, 'name'>): Abilities {
  const isPlain = name === 'role_colon' || name === 'llama3';
  const isDirect = name.includes('disable_thinking') || name === 'deepseekv3';
  return {
    thinks: !isPlain && !isDirect,
    // Each call of gpt-oss ends with a stop token, so a response has one.
    maxCalls: isPlain ? 0 : name.startsWith('gpt_oss') ? 1 : 3,
    // DeepSeek V3.1 does not end a message without text; gpt-oss reads a response with nothing but a call as text, too.
    needsText: name.startsWith('deepseekv3') || name.startsWith('gpt_oss'),
  };
}

const WORDS = [
  'water',
  'Zürich',
  '你好',
  '😀',
  'naïve',
  'x1',
  '3.5%',
  'a.b',
  '"quoted"',
  "it's",
  '{',
  '}',
  'two\nlines',
  '\t',
  '—',
  '\\n',
  '&',
  'end.',
];

/** Text of any language without tags and without whitespace at its edges, which templates do not keep. */
export const text = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 })
  .map((words) => words.join(' ').trim())
  .filter((joined) => joined !== '');

const name = fc.constantFrom('search', 'get_weather', 'add', 'Lookup2');
/** Values that every way of writing arguments gives back: words, whole numbers, and lists and objects of them. */
const word = fc.constantFrom('Paris', 'Zürich', '你好 there', 'line one\nline two', 'a "b" c', 'x=1; y=2');
const value = fc.oneof(
  word,
  fc.integer(),
  fc.array(fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null))),
  fc.dictionary(fc.constantFrom('p', 'q'), fc.integer()),
);
const args = fc.dictionary(fc.constantFrom('city', 'unit', 'n', 'clé'), value, { maxKeys: 3 });

const calls = (maxLength: number): fc.Arbitrary<ToolCall[]> =>
  fc.array(fc.tuple(name, args), { maxLength }).map((pairs) =>
    pairs.map(([called, given], index) => ({
      type: 'function',
      id: `functions.${called}:${index}`,
      function: { name: called, arguments: JSON.stringify(given) },
    })),
  );

/** A message of the assistant that the template can express. `hasThinking` unset: at random. */
export function assistantTurn({ thinks, maxCalls, needsText }: Abilities, hasThinking?: boolean): fc.Arbitrary<Message> {
  return fc
    .record({ thinking: text, answer: text, isThinking: fc.boolean(), isSilent: fc.boolean(), toolCalls: calls(maxCalls) })
    .map((drawn) => {
      const isThinking = thinks && (hasThinking ?? drawn.isThinking);
      const answer = drawn.toolCalls.length > 0 && drawn.isSilent && !needsText ? '' : drawn.answer;
      return {
        role: 'assistant',
        content: isThinking
          ? [
              { type: 'thinking', thinking: drawn.thinking },
              { type: 'text', text: answer },
            ]
          : answer,
        ...(drawn.toolCalls.length === 0 ? {} : { toolCalls: drawn.toolCalls }),
      };
    });
}

/** What a user or a tool says after a message. */
function replies(message: Message, answers: readonly string[]): Message[] {
  const { toolCalls = [] } = message;
  if (toolCalls.length === 0) return [{ role: 'user', content: answers[0] as string }];
  return toolCalls.map(({ id, function: called }, index) => ({
    role: 'tool',
    content: answers[index] as string,
    toolCallId: id,
    name: called.name,
  }));
}

/** Conversations that end with a message of the assistant. */
export function conversation(abilities: Abilities, hasThinking?: boolean): fc.Arbitrary<Message[]> {
  const turn = fc.tuple(assistantTurn(abilities, hasThinking), fc.tuple(text, text, text));
  return fc
    .record({
      system: fc.option(text, { nil: undefined }),
      question: text,
      turns: fc.array(turn, { maxLength: 4 }),
      last: assistantTurn(abilities, hasThinking),
    })
    .map(({ system, question, turns, last }) => [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: question },
      ...turns.flatMap(([message, answers]) => [message, ...replies(message, answers)]),
      last,
    ]);
}
