import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type Conversation,
  conversationToDatum,
  decodeMessage,
  encodeMessage,
  fromAlpaca,
  fromOpenAI,
  fromShareGpt,
  rendererForModel,
  toAlpaca,
  toOpenAI,
  tool,
  toShareGpt,
} from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { readVectors } from './harness/vectors.js';

const WEATHER = tool({
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: z.object({ city: z.string().describe('Name') }),
});

const CONVERSATION: Conversation = {
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Weather in Paris and Rome?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Two calls.' },
        { type: 'text', text: 'Let me see.' },
      ],
      toolCalls: [
        { type: 'function', id: 'c1', function: { name: 'get_weather', arguments: '{"city": "Paris"}' } },
        { type: 'function', id: 'c2', function: { name: 'get_weather', arguments: '{"city": "Rome"}' } },
      ],
    },
    { role: 'tool', content: '18C', toolCallId: 'c1', name: 'get_weather' },
    { role: 'tool', content: '25C', toolCallId: 'c2', name: 'get_weather' },
    { role: 'assistant', content: 'Rome is warmer.' },
  ],
  tools: [WEATHER],
};

describe('tool', () => {
  it('describes a zod schema as JSON schema, without markers that no model has seen', () => {
    expect(WEATHER.parameters).toEqual({
      type: 'object',
      properties: { city: { type: 'string', description: 'Name' } },
      required: ['city'],
      additionalProperties: false,
    });
  });

  it('takes a JSON schema as it is, and none for a tool without arguments', () => {
    const parameters = { type: 'object', properties: { a: { type: 'number' } } };
    expect(tool({ name: 'f', parameters })).toEqual({ name: 'f', description: '', parameters });
    expect(tool({ name: 'f' }).parameters).toEqual({ type: 'object', properties: {} });
  });

  it('refuses a tool without a name, and parameters that are not a schema', () => {
    expect(() => tool({ name: '' })).toThrow('The name of a tool is empty');
    expect(() => tool({ name: 'f', parameters: 5 as never })).toThrow(
      'The parameters of tool "f" are neither a JSON schema nor a zod schema',
    );
  });
});

describe('the JSON of messages', () => {
  it('gives back every message of the vectors', () => {
    const { conversations } = readVectors<{ conversations: { messages: unknown[] }[] }>('_conversations');
    for (const { messages } of conversations) for (const json of messages) expect(encodeMessage(decodeMessage(json))).toEqual(json);
  });

  it.each([
    [{ content: 'x' }, 'messages[3].role must be text; got nothing'],
    [{ role: 'user' }, 'messages[3].content must be text or a list of parts; got nothing'],
    [{ role: 'user', content: [{ type: 'video' }] }, 'messages[3].content[0].type must be text, thinking, image or audio; got "video"'],
    [{ role: 'user', content: [{ type: 'text', text: 1 }] }, 'messages[3].content[0].text must be text; got number'],
    [{ role: 'user', content: 'x', toolCalls: [] }, 'messages[3].toolCalls is not a field of a message'],
    [
      { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: {} } }] },
      'messages[3].tool_calls[0].function.arguments must be JSON text; use JSON.stringify; got object',
    ],
    [{ role: 'user', content: 'x', trainable: 1 }, 'messages[3].trainable must be true or false; got number'],
    [[], 'messages[3] must be an object, got a list'],
  ])('refuses %j and names the field', (json, problem) => {
    expect(() => decodeMessage(json, 'messages[3]')).toThrow(problem);
  });

  it('refuses bytes, which JSON cannot carry', () => {
    const image = { data: new Uint8Array(1), format: 'png' } as const;
    expect(() => encodeMessage({ role: 'user', content: [{ type: 'image', image }] })).toThrow('content[0].image holds bytes');
  });
});

describe('OpenAI records', () => {
  it('give back a conversation with thinking, calls and tools', () => {
    expect(fromOpenAI(JSON.parse(JSON.stringify(toOpenAI(CONVERSATION))))).toEqual(CONVERSATION);
  });

  it('take images by address, calls without content, and arguments as an object', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: { a: 1 } } }] },
    ];
    const conversation = fromOpenAI({ messages });
    expect(conversation.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image', image: 'data:image/png;base64,AA==' },
        ],
      },
      { role: 'assistant', content: '', toolCalls: [{ type: 'function', id: 'c', function: { name: 'f', arguments: '{"a": 1}' } }] },
    ]);
    expect((toOpenAI(conversation).messages as unknown[])[0]).toEqual(messages[0]);
  });

  it('turn the weights of a fine-tuning file into what is trainable', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', weight: 0 },
      { role: 'assistant', content: 'c' },
    ];
    const conversation = fromOpenAI({ messages });
    expect(conversation.messages.map(({ trainable }) => trainable)).toEqual([false, false, true]);
    expect((toOpenAI(conversation).messages as { weight?: number }[]).map(({ weight }) => weight)).toEqual([undefined, 0, 1]);
  });

  it('become a datum in one step', () => {
    const renderer = rendererForModel('Qwen/Qwen3-8B', tokenizerOf('qwen3'));
    const { messages } = fromOpenAI(
      JSON.parse('{"messages":[{"role":"user","content":"What is 2+2?"},{"role":"assistant","content":"4"}]}'),
    );
    const { modelInput, lossFnInputs } = conversationToDatum(messages, renderer, {
      trainOnWhat: 'last_assistant_message',
      reduction: 'none',
    });
    expect(renderer.tokenizer.decode(modelInput.toInts())).toBe(
      '<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n4',
    );
    expect(Array.from(lossFnInputs.weights?.toArray() ?? [], Number).reduce((sum, weight) => sum + weight)).toBe(6);
  });

  it.each([
    [{}, 'records[7].messages must be a list; got nothing'],
    [{ messages: [{ role: 'user' }] }, 'records[7].messages[0].content must be text or a list of parts; got nothing'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'records[7].messages[0].content[0].type must be text or image_url; got "input_audio"',
    ],
    [
      { messages: [{ role: 'assistant', content: '', function_call: {} }] },
      'records[7].messages[0].function_call is the old form of a call',
    ],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ function: {} }] }] },
      'records[7].messages[0].tool_calls[0].function.name must be text',
    ],
    [{ messages: [], tools: [{ function: { description: 'x' } }] }, 'records[7].tools[0].function.name must be text'],
  ])('refuse %j and name record and field', (record, problem) => {
    expect(() => fromOpenAI(record, 'records[7]')).toThrow(problem);
  });
});

describe('ShareGPT records', () => {
  it('give back a conversation with calls and tools, without thinking and ids', () => {
    const plain: Conversation = {
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: 'Let me see.',
          toolCalls: [{ type: 'function', function: { name: 'get_weather', arguments: '{"city": "Rome"}' } }],
        },
        { role: 'tool', content: '25C' },
        { role: 'assistant', content: 'Warm.' },
      ],
      tools: [WEATHER],
    };
    expect(fromShareGpt(toShareGpt(plain))).toEqual(plain);
    expect((toShareGpt(CONVERSATION).conversations as { value: string }[])[2]?.value).toBe('<think>Two calls.</think>Let me see.');
  });

  it('take a system prompt beside the conversation, and several calls in a list', () => {
    const { messages } = fromShareGpt({
      system: 'S',
      conversations: [
        { from: 'human', value: 'a' },
        { from: 'function_call', value: '[{"name":"f","arguments":{}},{"name":"g","arguments":"{}"}]' },
      ],
    });
    expect(messages[0]).toEqual({ role: 'system', content: 'S' });
    expect(messages[2]?.toolCalls?.map((call) => call.function.name)).toEqual(['f', 'g']);
  });

  it.each([
    [{ conversations: [{ from: 'bot', value: 'x' }] }, 'records[7].conversations[0].from must be one of system, human'],
    [{ conversations: [{ from: 'human' }] }, 'records[7].conversations[0].value must be text; got nothing'],
    [{ conversations: [{ from: 'function_call', value: '{' }] }, 'records[7].conversations[0].value must be JSON text'],
    [{ conversations: [], tools: '{' }, 'records[7].tools must be JSON text'],
  ])('refuse %j and name record and field', (record, problem) => {
    expect(() => fromShareGpt(record, 'records[7]')).toThrow(problem);
  });
});

describe('Alpaca records', () => {
  it('give back a conversation of questions and answers', () => {
    const record = { instruction: 'Q2', input: '', output: 'A2', system: 'S', history: [['Q1', 'A1']] };
    expect(toAlpaca(fromAlpaca(record))).toEqual(record);
    expect(fromAlpaca({ instruction: 'Add', input: '1 2', output: '3' }).messages[0]?.content).toBe('Add\n1 2');
  });

  it.each([
    [{ output: 'x' }, 'records[7].instruction must be text; got nothing'],
    [{ instruction: 'x' }, 'records[7].output must be text; got nothing'],
    [{ instruction: 'x', output: 'y', history: [['a']] }, 'records[7].history[0] must be a question and an answer'],
  ])('refuse %j and name record and field', (record, problem) => {
    expect(() => fromAlpaca(record, 'records[7]')).toThrow(problem);
  });

  it('refuse a conversation that does not fit', () => {
    expect(() => toAlpaca(CONVERSATION)).toThrow('messages[2].toolCalls cannot be written in this format');
    expect(() => toAlpaca({ messages: [{ role: 'user', content: 'x' }] })).toThrow('must end with an answer');
  });
});
