import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { getRenderer, type Message, type ResponseDelta, rendererForModel, type StreamOptions, tool } from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';

const tokenizer = tokenizerOf('stand-in');
const renderer = (name: string) => getRenderer(name, tokenizer);
const prompt = (name: string, ...given: Parameters<ReturnType<typeof renderer>['buildGenerationPrompt']>) =>
  tokenizer.decode(
    renderer(name)
      .buildGenerationPrompt(...given)
      .toInts(),
  );

const SEARCH = tool({ name: 'search', description: 'Search', parameters: z.object({ query: z.string() }) });
const HELLO: Message[] = [{ role: 'user', content: 'Hi' }];

describe('a sampled answer', () => {
  const text =
    '<think>\nTwo cities, two calls.\n</think>\n\nOne moment.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call><|im_end|>';
  const real = tokenizerOf('qwen3');
  const qwen = rendererForModel('Qwen/Qwen3-8B', real);
  const tokens = Array.from(real.encode(text));

  it('with thinking and two tool calls comes back as a message', () => {
    expect(qwen.parseResponse(tokens)).toEqual({
      termination: 'stop_sequence',
      message: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Two cities, two calls.' },
          { type: 'text', text: 'One moment.\n' },
          { type: 'text', text: '\n' },
        ],
        toolCalls: [
          { type: 'function', id: undefined, function: { name: 'get_weather', arguments: '{"city": "Z\\u00fcrich"}' } },
          { type: 'function', id: undefined, function: { name: 'get_weather', arguments: '{"city": "Rome"}' } },
        ],
      },
    });
  });

  it('streams its text, its thinking and its calls, and no markup', () => {
    const stream = qwen.streamResponse();
    const deltas = [...tokens.flatMap((token) => stream.push([token])), ...stream.finish().deltas];
    expect(deltas[0]).toEqual({ type: 'header', role: 'assistant' });
    expect(shown(deltas)).toBe('[\nTwo cities, two calls.\n]\n\nOne moment.\n\n(get_weather)(get_weather)');
  });
});

/** Thinking in brackets, calls in parentheses. */
function shown(deltas: readonly ResponseDelta[]): string {
  const marked = deltas.map((delta) => {
    if (delta.type === 'text') return delta.text;
    if (delta.type === 'thinking') return `[${delta.thinking}]`;
    return delta.type === 'toolCall' ? `(${delta.toolCall.function.name})` : '';
  });
  return marked.join('').replaceAll('][', '');
}

function streamed(name: string, text: string, options?: StreamOptions): string {
  const stream = renderer(name).streamResponse(options);
  const deltas = Array.from(tokenizer.encode(text)).flatMap((token) => stream.push([token]));
  return shown([...deltas, ...stream.finish().deltas]);
}

describe('a stream', () => {
  it('knows that the prompt opened the thinking block', () => {
    expect(streamed('kimi_k25', 'hm</think>Hi<|im_end|>')).toBe('[hm]Hi');
    expect(streamed('kimi_k25', '<think>hm</think>Hi<|im_end|>')).toBe('[hm]Hi');
    expect(streamed('kimi_k25', 'hm</think>Hi<|im_end|>', { thinkingPrefilled: false })).toBe('hm</think>Hi');
    expect(streamed('kimi_k25_disable_thinking', 'Hi<|im_end|>')).toBe('Hi');
  });

  it('shows a tool call that was cut off as text, so that nothing is lost', () => {
    expect(streamed('qwen3', 'a<tool_call>{"na')).toBe('a<tool_call>{"na');
    expect(streamed('qwen3', 'a<tool_call>{}</tool_call>b<|im_end|>', { toolCalls: 'text' })).toBe('a<tool_call>{}</tool_call>b');
  });

  it('shows the channels of Harmony while they arrive', () => {
    const text =
      '<|channel|>analysis<|message|>hm<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>';
    expect(streamed('gpt_oss_no_sysprompt', text)).toBe('[hm](f)');
    expect(streamed('gpt_oss_no_sysprompt', text, { toolCalls: 'text' })).toBe('[hm]{"a": 1}');
    expect(streamed('gpt_oss_no_sysprompt', '<|channel|>final<|message|>Hello<|return|>')).toBe('Hello');
    expect(streamed('gpt_oss_no_sysprompt', '<|channel|>final<|message|>Hel')).toBe('Hel');
    expect(streamed('gpt_oss_no_sysprompt', 'no header')).toBe('no header');
  });

  it('takes tags of a model that does not think for text', () => {
    expect(streamed('llama3', '<think>x</think>y<|eot_id|>')).toBe('<think>x</think>y');
  });

  it('shows the text of a base model while it arrives, without what frames it', () => {
    const { tokenizer } = renderer('role_colon');
    expect(streamed('role_colon', ' Hi\n\nUser:')).toBe('Hi');
    for (const text of ['', ' ', ' Hi there.', 'Hi\n\n', ' a\n\n\n\n\nUser: b', ' x\n\nUse', ' x\n\n\nUser', '  y\n\nUser:\n\nUser:']) {
      const tokens = Array.from(tokenizer.encode(text));
      const stream = renderer('role_colon').streamResponse();
      const deltas = tokens.flatMap((token) => stream.push([token]));
      const { deltas: last, message } = stream.finish();
      const shown = [...deltas, ...last].map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
      expect([text, shown]).toEqual([text, renderer('role_colon').parseResponse(tokens).message.content]);
      expect(message.content).toBe(shown);
    }
    const stream = renderer('role_colon').streamResponse();
    const deltas = stream.push(tokenizer.encode(' Hi there'));
    expect(deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('')).toBe('Hi there');
  });

  it('gives everything in the end where the format allows nothing else', () => {
    expect(renderer('tml_v0').supportsStreaming).toBe(false);
    expect(
      streamed(
        'tml_v0',
        '<|message_model|><|content_thinking|>hm<|end_message|><|message_model|><|content_text|>Hi<|end_message|><|content_model_end_sampling|>',
      ),
    ).toBe('[hm]Hi');
  });
});

describe('tools of a prompt', () => {
  it('are declared with the system prompt of the conversation', () => {
    const system: Message = { role: 'system', content: 'Be brief.' };
    const expected = [...renderer('qwen3').createConversationPrefixWithTools([SEARCH], 'Be brief.'), ...HELLO];
    expect(prompt('qwen3', [system, ...HELLO], { tools: [SEARCH] })).toBe(prompt('qwen3', expected));
    expect(prompt('qwen3', HELLO, { tools: [SEARCH] })).toContain('"name": "search"');
    expect(prompt('qwen3', HELLO, { tools: [] })).toBe(prompt('qwen3', HELLO));
  });

  it('are refused where the template has none', () => {
    expect(() => prompt('llama3', HELLO, { tools: [SEARCH] })).toThrow('The template of renderer "llama3" has no tools.');
  });
});

describe('errors', () => {
  const image: Message = { role: 'user', content: [{ type: 'image', image: 'x' }] };

  it('number messages as the user does, also where the template adds one', () => {
    expect(() => renderer('kimi_k2').buildGenerationPrompt([...HELLO, image])).toThrow('messages[1].content must be text');
    expect(() => renderer('gpt_oss_low_reasoning').buildGenerationPrompt([image])).toThrow('messages[0].content must be text');
  });

  it.each([
    ['deepseekv3', [...HELLO, { role: 'system', content: 'x' }], 'messages[1].role system cannot stand here'],
    ['glm5_3_max_reasoning', [{ role: 'critic', content: 'x' }], 'messages[0].role critic is unknown to this template'],
    ['tml_v0', [{ role: 'developer', content: 'x' }], 'messages[0].role developer is unknown to this template'],
    ['deepseekv4_1', [...HELLO, { role: 'tool_declare', content: '[]' }], 'messages[1].role is tool_declare'],
    ['qwen3_5', [...HELLO, call('[]')], 'messages[1].toolCalls has a call of "f" whose arguments are not a JSON object'],
    ['qwen3', [...HELLO, call('{')], 'messages[1].toolCalls has a call of "f" whose arguments are not JSON'],
  ] satisfies [string, Message[], string][])('of %s name message and field', (name, messages, problem) => {
    expect(() => renderer(name).buildGenerationPrompt(messages)).toThrow(problem);
  });

  it('say what thinking does to a renderer without it', () => {
    const answer: Message = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'x' },
      ],
    };
    expect(() => renderer('qwen3_disable_thinking').buildSupervisedExample([...HELLO, answer])).toThrow(
      'messages[1].content contains thinking',
    );
  });

  it('name modes that cannot be split and modes that do not exist', () => {
    const messages: Message[] = [...HELLO, { role: 'assistant', content: 'x' }];
    expect(() => renderer('qwen3').buildSupervisedExamples(messages, 'all_tokens')).toThrow("'all_tokens' cannot be split");
    expect(() => renderer('qwen3').buildSupervisedExample(messages, 'everything' as never)).toThrow(
      'trainOnWhat must be one of last_assistant_message',
    );
    expect(() => renderer('tml_v0').buildSupervisedExample(messages, 'all_tokens')).toThrow(
      'trainOnWhat must be one of all_assistant_messages',
    );
    expect(() => renderer('tml_v0').buildSupervisedExample(HELLO)).toThrow('messages have nothing to train on');
    expect(renderer('tml_v0').buildSupervisedExamples(HELLO)).toEqual([]);
  });
});

function call(args: string): Message {
  return { role: 'assistant', content: '', toolCalls: [{ type: 'function', function: { name: 'f', arguments: args } }] };
}
