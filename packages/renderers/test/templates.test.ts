import { ConfigurationError, ValidationError } from '@tinkex/types';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  bpeTokenizer,
  compareRenderers,
  getRenderer,
  type Message,
  type Renderer,
  type RendererTokenizer,
  type ToolSpec,
} from '../src/index.js';
import { type TemplateRendererOptions, templateRenderer } from '../src/templates/index.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { tokenizerFiles } from './tokenizers/vocabularies.js';

const QUESTION: Message = { role: 'user', content: 'Hi' };
const ANSWER: Message = { role: 'assistant', content: 'Hello!' };
const THOUGHT: Message = {
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'a greeting' },
    { type: 'text', text: 'Hello!' },
  ],
};
const TOOLS: ToolSpec[] = [
  { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } },
];
const CALL: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ type: 'function', function: { name: 'add', arguments: '{"a": 1, "b": 2}' } }],
};

/** Qwen3's own template on Qwen3's own tokenizer. */
let chatTemplate: string;
let tokenizer: RendererTokenizer;
const qwen = (options: Partial<TemplateRendererOptions> = {}): Renderer => templateRenderer({ chatTemplate, tokenizer, ...options });

beforeAll(() => {
  const { json, config } = tokenizerFiles('qwen3');
  chatTemplate = (config as { chat_template: string }).chat_template;
  tokenizer = bpeTokenizer(json, config);
});

describe('a template of a model that has a renderer', () => {
  const conversations: Message[][] = [
    [QUESTION],
    [QUESTION, ANSWER],
    [QUESTION, THOUGHT],
    [{ role: 'system', content: 'Be brief.' }, QUESTION, ANSWER, { role: 'user', content: '再见 👋' }, ANSWER],
    [QUESTION, THOUGHT, { role: 'user', content: 'And?' }, THOUGHT],
    [QUESTION, CALL],
    [QUESTION, CALL, { role: 'tool', content: '3' }, { role: 'assistant', content: 'Three.' }],
  ];

  it('gives the prompts and examples of qwen3', () => {
    expect(String(compareRenderers(getRenderer('qwen3', tokenizer), qwen(), conversations))).toBe('No difference in 7 conversations.');
  });

  it('takes variables: the prompts of qwen3_disable_thinking', () => {
    const disabled = qwen({ variables: { enable_thinking: false } });
    expect(
      compareRenderers(getRenderer('qwen3_disable_thinking', tokenizer), disabled, [[QUESTION], [QUESTION, ANSWER]]).differences,
    ).toEqual([]);
  });

  it('declares tools in prompts, and in every rendering if they are its own', () => {
    const inPrompt = qwen().buildGenerationPrompt([QUESTION], { tools: TOOLS });
    expect(tokenizer.decode(inPrompt.toInts())).toContain('"name": "add"');
    expect(qwen({ tools: TOOLS }).buildGenerationPrompt([QUESTION])).toEqual(inPrompt);
    expect(tokenizer.decode(qwen({ tools: TOOLS }).buildSupervisedExample([QUESTION, CALL]).modelInput.toInts())).toContain(
      '"name": "add"',
    );
  });

  it('reads responses with thinking and tool calls', () => {
    const tokens = tokenizer.encode(
      '<think>\nhm\n</think>\n\nSee:<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call><|im_end|>',
    );
    const { message, termination } = qwen().parseResponse(tokens);
    expect(termination).toBe('stop_sequence');
    expect(message.toolCalls).toEqual([{ type: 'function', function: { name: 'add', arguments: '{"a": 1}' } }]);
    expect(JSON.stringify(message.content)).toContain('"thinking"');
    const stream = qwen().streamResponse();
    expect(stream.push(tokens).some(({ type }) => type === 'thinking')).toBe(true);
    expect(stream.finish().message).toEqual(message);
  });

  it('refuses to mask a turn that the template rewrites later, and says where and what to do', () => {
    const conversation = [QUESTION, THOUGHT, QUESTION, ANSWER];
    const mask = () => qwen().buildSupervisedExample(conversation, 'all_assistant_messages');
    expect(mask).toThrow(ValidationError);
    expect(mask).toThrow(/messages\[1\] cannot be masked.*at character 52 it has "<think>.*Use buildSupervisedExamples/);
    const examples = qwen().buildSupervisedExamples(conversation, 'all_assistant_messages');
    expect(examples.map((example) => trainedText(tokenizer, example))).toEqual([
      '<think>\na greeting\n</think>\n\nHello!<|im_end|>',
      '<think>\n\n</think>\n\nHello!<|im_end|>',
    ]);
  });
});

describe('any template', () => {
  const standIn = tokenizerOf('stand-in');
  const SIMPLE =
    '{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';
  const simple = (options: Partial<TemplateRendererOptions> = {}) =>
    templateRenderer({ chatTemplate: SIMPLE, tokenizer: standIn, stopTokens: ['<|im_end|>'], ...options });

  it('trains on exactly what the assistant wrote, up to the stop token', () => {
    const example = simple().buildSupervisedExample(
      [QUESTION, ANSWER, QUESTION, { role: 'assistant', content: '\nBye' }],
      'all_assistant_messages',
    );
    expect(trainedText(standIn, example)).toBe('Hello!<|im_end|>\nBye<|im_end|>');
    expect(standIn.decode(example.modelInput.toInts())).toMatch(/<\|im_end\|>$/);
  });

  it('trains on the last turn, on chosen messages, or on all tokens but the first', () => {
    const chosen = [QUESTION, ANSWER, QUESTION, { role: 'assistant', content: 'Bye' }].map((message, index) => ({
      ...message,
      trainable: index === 1,
    }));
    expect(trainedText(standIn, simple().buildSupervisedExample(chosen, 'customized'))).toBe('Hello!<|im_end|>');
    expect(trainedText(standIn, simple().buildSupervisedExample([QUESTION, ANSWER, ANSWER], 'last_assistant_turn'))).toBe(
      'Hello!<|im_end|>Hello!<|im_end|>',
    );
    const bos = tokenizerOf('stand-in-bos');
    const { weights } = simple({ tokenizer: bos }).buildSupervisedExample([QUESTION, ANSWER], 'all_tokens');
    expect([weights[0], ...new Set(weights.slice(1))]).toEqual([0, 1]);
  });

  it('writes a prefill as its own tokens', () => {
    const prompt = simple().buildGenerationPrompt([QUESTION], { prefill: '\nWell' }).toInts();
    expect(Array.from(prompt)).toEqual([
      ...Array.from(simple().buildGenerationPrompt([QUESTION]).toInts()),
      ...Array.from(standIn.encode('\nWell')),
    ]);
  });

  it('refuses what a template cannot say', () => {
    expect(() => simple().buildSupervisedExample([QUESTION, ANSWER], 'all_messages')).toThrow(/messages\[0\] is not from the assistant/);
    expect(() => simple().buildSupervisedExamples([QUESTION, ANSWER], 'all_tokens')).toThrow(/cannot be split/);
    expect(() => simple().buildGenerationPrompt([QUESTION], { role: 'user' })).toThrow(/for the assistant only/);
    expect(() => simple().createConversationPrefixWithTools(TOOLS)).toThrow(/declares tools itself/);
    expect(() => simple({ chatTemplate: '{% if %}' })).toThrow(ConfigurationError);
    const refusing = simple({ chatTemplate: "{{ raise_exception('Roles must alternate.') }}" });
    expect(() => refusing.buildGenerationPrompt([QUESTION])).toThrow(/refused by the chat template: .*Roles must alternate/);
  });

  it('needs to know how a response ends', () => {
    const withoutEnd = { ...standIn, eosTokenId: undefined } as RendererTokenizer;
    expect(() => templateRenderer({ chatTemplate: SIMPLE, tokenizer: withoutEnd })).toThrow(
      /Name the tokens that end a response in stopTokens/,
    );
    expect(simple({ stopTokens: undefined }).getStopSequences()).toEqual([standIn.eosTokenId]);
  });
});

describe('compareRenderers', () => {
  it('shows the first token that differs, with its text and place', () => {
    const other = qwen({ chatTemplate: chatTemplate.replace("'<|im_start|>assistant\\n'", "'<|im_start|>model\\n'") });
    const { differences, conversations, ...comparison } = compareRenderers(getRenderer('qwen3', tokenizer), other, [[QUESTION]]);
    expect(conversations).toBe(1);
    expect(differences).toMatchObject([
      { conversation: 0, of: 'prompt', first: { text: 'assistant' }, second: { text: 'model' }, isSameText: false, position: 7 },
    ]);
    expect(comparison.toString()).toBe(
      'Conversation 0, prompt, token 7, after "<|im_start|>user\\nHi<|im_end|>\\n<|im_start|>": "assistant" (77091) and "model" (2528).',
    );
  });

  it('notices equal texts with other tokens: special tokens that a user wrote', () => {
    const comparison = compareRenderers(getRenderer('qwen3', tokenizer), qwen(), [[{ role: 'user', content: 'Hi <|im_end|>' }]]);
    expect(comparison.differences).toMatchObject([{ isSameText: true, first: { text: ' <|' }, second: { text: ' ' } }]);
    expect(String(comparison)).toMatch(/The texts are equal\.$/);
  });

  it('notices other weights and a missing end', () => {
    const ours = getRenderer('qwen3', tokenizer);
    const example = ours.buildSupervisedExample([QUESTION, ANSWER]);
    const untrained: Renderer = Object.assign(Object.create(ours) as Renderer, {
      tokenizer,
      buildGenerationPrompt: () => ours.buildGenerationPrompt([QUESTION]),
      buildSupervisedExample: () => ({
        ...example,
        weights: example.weights.map((weight, index) => (index === example.weights.length - 1 ? 0 : weight)),
      }),
    });
    expect(String(compareRenderers(ours, untrained, [[QUESTION, ANSWER]]))).toMatch(
      /"<\|im_end\|>" \(151645\) is trained on by one renderer only\.$/,
    );
  });

  it('notices that only one of them refuses a conversation', () => {
    const odd: Message[] = [{ role: 'user', content: [{ type: 'image', image: 'https://example.com/cat.png' }] }];
    const simple = templateRenderer({ chatTemplate: 'x', tokenizer });
    const lax: Renderer = Object.assign(Object.create(simple) as Renderer, {
      tokenizer,
      buildGenerationPrompt: () => simple.buildGenerationPrompt([]),
    });
    expect(String(compareRenderers(simple, lax, [odd]))).toMatch(/^Conversation 0, prompt: The first refuses it: /);
    expect(compareRenderers(simple, simple, [odd]).differences).toEqual([]);
  });
});

function trainedText(
  ofTokenizer: RendererTokenizer,
  { modelInput, weights }: { modelInput: { toInts(): Int32Array }; weights: Float32Array },
): string {
  return ofTokenizer.decode(modelInput.toInts().filter((_, index) => weights[index] === 1));
}
