import Anthropic from '@anthropic-ai/sdk';
import { BillingError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { officialClients } from './harness/clients.js';
import { expectLegalEvents } from './harness/legal-order.js';
import { scriptedModel, TOKENIZER } from './harness/scripted-model.js';

const THINKING = '<think>\nadd them\n</think>\n\nIt is four — 四 😀.<|im_end|>';
const CALLS =
  '<think>\nuse a tool\n</think>\n\nLet me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n</tool_call><|im_end|>';
const REQUEST = { model: 'm', max_tokens: 200, messages: [{ role: 'user' as const, content: 'What is 2 + 2?' }] };
const TOOLS = [{ name: 'add', description: 'Adds.', input_schema: { type: 'object' as const, properties: {} } }];

describe('POST /v1/messages', () => {
  it('answers with thinking, text and usage', async () => {
    const { anthropic } = officialClients({ models: { m: scriptedModel(() => THINKING) } });
    expect(await anthropic.messages.create({ ...REQUEST, system: 'Be brief.' })).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'add them' },
        { type: 'text', text: 'It is four — 四 😀.' },
      ],
      stop_reason: 'end_turn',
      usage: { output_tokens: TOKENIZER.encode(THINKING).length },
    });
  });

  it('calls tools and takes their results', async () => {
    const model = scriptedModel((prompt) => (prompt.includes('<tool_response>') ? 'Four.<|im_end|>' : CALLS));
    const { anthropic } = officialClients({ models: { m: model } });
    const first = await anthropic.messages.create({ ...REQUEST, tools: TOOLS });
    expect(first.stop_reason).toBe('tool_use');
    const call = first.content.find((block) => block.type === 'tool_use') as Anthropic.ToolUseBlock;
    expect(call).toMatchObject({ name: 'add', input: { a: 2, b: 2 } });
    const result = { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: call.id, content: '4' }] };
    const second = await anthropic.messages.create({
      ...REQUEST,
      tools: TOOLS,
      messages: [...REQUEST.messages, { role: 'assistant', content: first.content as Anthropic.ContentBlockParam[] }, result],
    });
    expect(second.content).toEqual([{ type: 'text', text: 'Four.' }]);
  });

  it('streams the same message, in a legal order', async () => {
    for (const script of [THINKING, CALLS, 'Four.<|im_end|>']) {
      const { anthropic } = officialClients({ models: { m: scriptedModel(() => script) }, pieceTokens: 3 });
      const whole = await anthropic.messages.create({ ...REQUEST, tools: TOOLS });
      const stream = anthropic.messages.stream({ ...REQUEST, tools: TOOLS });
      const events: Anthropic.RawMessageStreamEvent[] = [];
      for await (const event of stream) events.push(event);
      expectLegalEvents(events);
      const final = await stream.finalMessage();
      const withoutIds = ({ content }: Anthropic.Message) => content.map((block) => ({ ...block, id: undefined }));
      expect(withoutIds(final)).toEqual(withoutIds(whole));
      expect(final).toMatchObject({ stop_reason: whole.stop_reason, usage: whole.usage });
    }
  });

  it('names the stop sequence, and the limit', async () => {
    const { anthropic } = officialClients({ models: { m: scriptedModel(() => 'One two three.<|im_end|>') } });
    expect(await anthropic.messages.create({ ...REQUEST, stop_sequences: [' two'] })).toMatchObject({
      content: [{ type: 'text', text: 'One' }],
      stop_reason: 'stop_sequence',
      stop_sequence: ' two',
    });
    expect(await anthropic.messages.create({ ...REQUEST, max_tokens: 1 })).toMatchObject({ stop_reason: 'max_tokens' });
  });

  it('continues what the last message begins', async () => {
    const model = scriptedModel((prompt) => (prompt.endsWith('The sum is') ? ' four.<|im_end|>' : 'No.<|im_end|>'));
    const { anthropic } = officialClients({ models: { m: model } });
    const messages = [...REQUEST.messages, { role: 'assistant' as const, content: 'The sum is' }];
    expect((await anthropic.messages.create({ ...REQUEST, messages })).content).toEqual([{ type: 'text', text: ' four.' }]);
  });

  it('counts the tokens of a prompt as a message is charged', async () => {
    const { anthropic } = officialClients({ models: { m: scriptedModel(() => THINKING) } });
    const { max_tokens: _, ...counted } = { ...REQUEST, tools: TOOLS };
    const { input_tokens: tokens } = await anthropic.messages.countTokens(counted);
    expect((await anthropic.messages.create({ ...REQUEST, tools: TOOLS })).usage.input_tokens).toBe(tokens);
  });

  it.each([
    ['a wrong model', { ...REQUEST, model: 'x' }, 404, 'not_found_error'],
    ['no limit', { ...REQUEST, max_tokens: undefined }, 400, 'invalid_request_error'],
    ['a context that is too long', { ...REQUEST, max_tokens: 5000 }, 400, 'invalid_request_error'],
    [
      'a block that does not exist',
      { ...REQUEST, messages: [{ role: 'user', content: [{ type: 'video' }] }] },
      400,
      'invalid_request_error',
    ],
  ])('refuses %s', async (_, request, status, type) => {
    const { anthropic } = officialClients({ models: { m: scriptedModel(() => THINKING, { contextLength: 4096 }) } });
    const refusal = anthropic.messages.create(request as Anthropic.MessageCreateParamsNonStreaming);
    await expect(refusal).rejects.toMatchObject({ status, error: { type: 'error', error: { type } } });
  });

  it('refuses a wrong key', async () => {
    const { anthropic } = officialClients({ models: {} }, 'wrong');
    await expect(anthropic.messages.create(REQUEST)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  });

  it('reports a failure in the middle of a stream', async () => {
    const model = scriptedModel(() => 'One two three four five.<|im_end|>');
    model.sampler.onSample = () =>
      model.sampler.inputs.length > 1 ? Promise.reject(new BillingError({ message: 'The account is empty.', status: 402 })) : undefined;
    const { anthropic } = officialClients({ models: { m: model }, pieceTokens: 2 });
    const stream = await anthropic.messages.create({ ...REQUEST, stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow(/account is empty/);
  });

  it('lists models as Anthropic does', async () => {
    const { anthropic } = officialClients({ models: { m: scriptedModel(() => '') } });
    expect((await anthropic.models.list()).data).toMatchObject([{ id: 'm', type: 'model' }]);
  });
});
