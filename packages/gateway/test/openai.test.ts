import { RateLimitError } from '@tinkex/types';
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import type { CapturedExchange } from '../src/index.js';
import { officialClients } from './harness/clients.js';
import { expectLegalChunks } from './harness/legal-order.js';
import { ScriptedSampler, scriptedModel, TOKENIZER } from './harness/scripted-model.js';

const THINKING = '<think>\nadd them\n</think>\n\nIt is four — 四 😀.<|im_end|>';
const CALLS = [
  'Let me see.',
  '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n</tool_call>',
  '<tool_call>\n{"name": "show", "arguments": {}}\n</tool_call><|im_end|>',
].join('\n');
const QUESTION = [{ role: 'user' as const, content: 'What is 2 + 2?' }];
const TOOLS = ['add', 'show'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
}));

describe('POST /v1/chat/completions', () => {
  it('answers with content, reasoning and usage', async () => {
    const { openai } = officialClients({ models: { m: scriptedModel(() => THINKING) } });
    const answer = await openai.chat.completions.create({ model: 'm', messages: QUESTION });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'It is four — 四 😀.', reasoning_content: 'add them' } },
      ],
      usage: { completion_tokens: TOKENIZER.encode(THINKING).length },
    });
  });

  it('calls tools', async () => {
    const { openai } = officialClients({ models: { m: scriptedModel(() => CALLS) } });
    const { choices } = await openai.chat.completions.create({ model: 'm', messages: QUESTION, tools: TOOLS });
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: expect.stringMatching(/^Let me see\.\s*$/),
        tool_calls: [{ function: { name: 'add', arguments: '{"a": 2, "b": 2}' } }, { function: { name: 'show' } }],
      },
    });
    expect(choices[0]?.message.tool_calls?.[0]?.id).toMatch(/^call_/);
  });

  it('takes the results of tools', async () => {
    const model = scriptedModel((prompt) => (prompt.includes('<tool_response>') ? 'Four.<|im_end|>' : CALLS));
    const { openai } = officialClients({ models: { m: model } });
    const first = await openai.chat.completions.create({ model: 'm', messages: QUESTION, tools: TOOLS });
    const message = first.choices[0]?.message as OpenAI.ChatCompletionMessage;
    const call = message.tool_calls?.[0] as OpenAI.ChatCompletionMessageToolCall;
    const messages = [...QUESTION, message, { role: 'tool' as const, tool_call_id: call.id, content: '4' }];
    const second = await openai.chat.completions.create({ model: 'm', messages, tools: TOOLS });
    expect(second.choices[0]?.message.content).toBe('Four.');
  });

  it('streams the same text, calls and usage, in a legal order', async () => {
    for (const script of [THINKING, CALLS]) {
      const { openai } = officialClients({ models: { m: scriptedModel(() => script) }, pieceTokens: 3 });
      const request = { model: 'm', messages: QUESTION, tools: TOOLS, logprobs: true };
      const whole = await openai.chat.completions.create(request);
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of await openai.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } }))
        chunks.push(chunk);
      const deltas = chunks.flatMap(({ choices }) =>
        choices.map(({ delta }) => delta as OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string }),
      );
      const message = whole.choices[0]?.message as OpenAI.ChatCompletionMessage & { reasoning_content?: string };
      expect(deltas[0]).toEqual({ role: 'assistant', content: '', refusal: null });
      expect(deltas.map(({ content }) => content ?? '').join('')).toBe(message.content);
      expect(deltas.map(({ reasoning_content: text }) => text ?? '').join('')).toBe(message.reasoning_content ?? '');
      const calls = deltas.flatMap(({ tool_calls: list }) => list ?? []);
      expect(calls.map(({ index, function: called }) => [index, called?.name, called?.arguments])).toEqual(
        (message.tool_calls ?? []).map((call, index) => [index, ...Object.values((call as { function: object }).function)]),
      );
      expect(chunks.flatMap(({ choices }) => choices.flatMap(({ logprobs }) => logprobs?.content ?? []))).toEqual(
        whole.choices[0]?.logprobs?.content,
      );
      expect(chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? []))).toEqual([
        whole.choices[0]?.finish_reason,
      ]);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
      expectLegalChunks(chunks);
    }
  });

  it('streams several choices side by side', async () => {
    const model = scriptedModel((_, attempt) => `${attempt}: ${'word '.repeat(attempt * 4)}done.<|im_end|>`);
    const { openai } = officialClients({ models: { m: model }, pieceTokens: 3 });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    const request = { model: 'm', messages: QUESTION, n: 3, stream: true as const, stream_options: { include_usage: true } };
    for await (const chunk of await openai.chat.completions.create(request)) chunks.push(chunk);
    expectLegalChunks(chunks);
    const texts = [0, 1, 2].map((index) =>
      chunks.flatMap(({ choices }) => choices.flatMap((choice) => (choice.index === index ? (choice.delta.content ?? '') : []))).join(''),
    );
    expect(texts).toEqual([0, 1, 2].map((index) => `${index}: ${'word '.repeat(index * 4)}done.`));
  });

  it('gives log-probabilities and several choices', async () => {
    const { openai } = officialClients({ models: { m: scriptedModel((_, attempt) => `Answer ${attempt}.<|im_end|>`) } });
    const { choices } = await openai.chat.completions.create({ model: 'm', messages: QUESTION, n: 2, logprobs: true, top_logprobs: 1 });
    expect(choices.map(({ message }) => message.content)).toEqual(['Answer 0.', 'Answer 1.']);
    const [entry] = choices[0]?.logprobs?.content ?? [];
    expect(entry).toMatchObject({ top_logprobs: [{ token: entry?.token, logprob: entry?.logprob }] });
  });

  it('ends at a stop text, also across pieces', async () => {
    const { openai } = officialClients({ models: { m: scriptedModel(() => 'One two three four.<|im_end|>') }, pieceTokens: 1 });
    const request = { model: 'm', messages: QUESTION, stop: ['two th'] };
    expect((await openai.chat.completions.create(request)).choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'One ' },
    });
    let text = '';
    for await (const { choices } of await openai.chat.completions.create({ ...request, stream: true }))
      text += choices[0]?.delta.content ?? '';
    expect(text).toBe('One ');
  });

  it('samples again until an answer fits the JSON schema, streamed or not', async () => {
    const script = (_: string, attempt: number): string => `${attempt === 0 ? '{"sum": "four"}' : '{"sum": 4}'}<|im_end|>`;
    const schema = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };
    const request = {
      model: 'm',
      messages: QUESTION,
      response_format: { type: 'json_schema' as const, json_schema: { name: 'sum', schema } },
    };
    const whole = await officialClients({ models: { m: scriptedModel(script) } }).openai.chat.completions.create(request);
    expect(whole.choices[0]?.message.content).toBe('{"sum": 4}');
    let text = '';
    const streaming = officialClients({ models: { m: scriptedModel(script) } }).openai;
    for await (const { choices } of await streaming.chat.completions.create({ ...request, stream: true }))
      text += choices[0]?.delta.content ?? '';
    expect(text).toBe('{"sum": 4}');
    const hopeless = officialClients({ models: { m: scriptedModel(() => 'No.<|im_end|>') } }).openai;
    await expect(hopeless.chat.completions.create(request)).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('3 attempts'),
    });
  });

  it('samples again until the required tool is called', async () => {
    const model = scriptedModel((_, attempt) => (attempt < 2 ? 'No.<|im_end|>' : CALLS));
    const { openai } = officialClients({ models: { m: model } });
    const { choices } = await openai.chat.completions.create({ model: 'm', messages: QUESTION, tools: TOOLS, tool_choice: 'required' });
    expect(choices[0]?.message.tool_calls).toHaveLength(2);
    expect(model.sampler.inputs).toHaveLength(3);
  });

  it('declares no tools when they must not be called', async () => {
    const model = scriptedModel(() => 'Four.<|im_end|>');
    const { openai } = officialClients({ models: { m: model } });
    await openai.chat.completions.create({ model: 'm', messages: QUESTION, tools: TOOLS, tool_choice: 'none' });
    expect(TOKENIZER.decode(model.sampler.inputs[0]?.prompt.toInts() ?? [])).not.toContain('<tools>');
  });

  it.each([
    ['a wrong model', { model: 'x', messages: QUESTION }, { status: 404, code: 'model_not_found' }],
    ['no messages', { model: 'm', messages: [] }, { status: 400, param: 'messages' }],
    ['a wrong role', { model: 'm', messages: [{ role: 'user', content: 7 }] }, { status: 400, param: 'messages[0].content' }],
    ['a setting that would be ignored', { model: 'm', messages: QUESTION, logit_bias: { 5: 1 } }, { status: 400, param: 'logit_bias' }],
    ['too many tokens', { model: 'm', messages: QUESTION, max_tokens: 5000 }, { status: 400, code: 'context_length_exceeded' }],
    ['an unknown tool choice', { model: 'm', messages: QUESTION, tool_choice: 'required' }, { status: 400, param: 'tool_choice' }],
  ])('refuses %s as the real service does', async (_, request, expected) => {
    const { openai } = officialClients({ models: { m: scriptedModel(() => THINKING, { contextLength: 4096 }) } });
    const refusal = openai.chat.completions.create(request as OpenAI.ChatCompletionCreateParamsNonStreaming);
    await expect(refusal).rejects.toMatchObject(expected);
    await expect(refusal).rejects.toBeInstanceOf(APIError);
  });

  it('refuses a wrong key and no key', async () => {
    const { gateway, openai } = officialClients({ models: {} }, 'wrong');
    await expect(openai.models.list()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect((await gateway(new Request('http://localhost/v1/models'))).status).toBe(401);
  });

  it('refuses a body that is too large or not JSON', async () => {
    const { gateway } = officialClients({ models: {}, apiKeys: undefined, maxBodyBytes: 100 });
    const post = (body: string) => gateway(new Request('http://localhost/v1/chat/completions', { method: 'POST', body }));
    expect((await post('x'.repeat(101))).status).toBe(413);
    expect((await post('{')).status).toBe(400);
  });

  it('forwards the failures of the sampler, before and in a stream', async () => {
    const model = scriptedModel(() => 'One two three four five.<|im_end|>');
    const { openai } = officialClients({ models: { m: model }, pieceTokens: 2 });
    const limited = new RateLimitError({ message: 'Too many requests.', status: 429, retryAfterMs: 1500 });
    model.sampler.onSample = () => Promise.reject(limited);
    const request = { model: 'm', messages: QUESTION };
    await expect(openai.chat.completions.create(request)).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    await expect(openai.chat.completions.create({ ...request, stream: true })).rejects.toMatchObject({ status: 429 });
    model.sampler.onSample = () => (model.sampler.inputs.length > 3 ? Promise.reject(limited) : undefined);
    let text = '';
    const stream = await openai.chat.completions.create({ ...request, stream: true });
    await expect(
      (async () => {
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      })(),
    ).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    expect('One two three four five.').toContain(text);
  });

  it('samples no more when the client hangs up', async () => {
    const model = scriptedModel(() => `${'word '.repeat(100)}<|im_end|>`);
    const { openai } = officialClients({ models: { m: model }, pieceTokens: 1 });
    const stream = await openai.chat.completions.create({ model: 'm', messages: QUESTION, stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    const sampled = model.sampler.inputs.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(model.sampler.inputs.length).toBeLessThanOrEqual(sampled + 1);
  });

  it('captures what was sampled, with its episode', async () => {
    const captured: CapturedExchange[] = [];
    const { openai } = officialClients({
      models: { m: scriptedModel(() => THINKING) },
      pieceTokens: 4,
      capture: (exchange) => void captured.push(exchange),
    });
    const request = { model: 'm', messages: QUESTION };
    await openai.chat.completions.create(request, { headers: { 'x-tinkex-episode': 'e1' } });
    for await (const _ of await openai.chat.completions.create({ ...request, stream: true }));
    const [whole, streamed] = captured;
    expect(whole).toMatchObject({ api: 'openai', episode: 'e1', model: 'm', messages: QUESTION });
    expect(Array.from(whole?.choices[0]?.tokens ?? [])).toEqual(Array.from(TOKENIZER.encode(THINKING)));
    expect(streamed?.choices[0]?.tokens).toEqual(whole?.choices[0]?.tokens);
    expect(streamed?.choices[0]?.logprobs).toEqual(whole?.choices[0]?.logprobs);
    expect(streamed?.choices[0]?.sequenceIds.length).toBeGreaterThan(1);
  });
});

describe('POST /v1/completions', () => {
  const model = () => ({ ...scriptedModel(() => ''), sampler: new ScriptedSampler(() => ' four — 四, said he.') });

  it('continues a text, whole and streamed', async () => {
    const request = { model: 'm', prompt: 'Two and two is', max_tokens: 50, stop: ', sa', logprobs: 1 };
    const { openai } = officialClients({ models: { m: model() }, pieceTokens: 2 });
    const whole = await openai.completions.create(request);
    expect(whole.choices[0]).toMatchObject({ text: ' four — 四', finish_reason: 'stop' });
    let text = '';
    for await (const { choices } of await openai.completions.create({ ...request, stream: true })) text += choices[0]?.text ?? '';
    expect(text).toBe(' four — 四');
    expect(whole.choices[0]?.logprobs?.token_logprobs).toHaveLength(whole.usage?.completion_tokens ?? 0);
  });

  it('takes several prompts, also as token IDs', async () => {
    const { openai } = officialClients({ models: { m: model() } });
    const prompts = ['a', 'b'].map((text) => Array.from(TOKENIZER.encode(text)));
    const { choices } = await openai.completions.create({ model: 'm', prompt: prompts, max_tokens: 3, n: 2 });
    expect(choices.map(({ index, finish_reason: reason }) => [index, reason])).toEqual([0, 1, 2, 3].map((index) => [index, 'length']));
  });
});

describe('GET /v1/models', () => {
  it('lists and finds models, slashes included', async () => {
    const { openai } = officialClients({ models: { 'a/b': scriptedModel(() => '') } });
    const { data } = await openai.models.list();
    expect(data.map(({ id }) => id)).toEqual(['a/b']);
    expect(await openai.models.retrieve('a/b')).toMatchObject({ id: 'a/b', object: 'model' });
    await expect(openai.models.retrieve('c')).rejects.toMatchObject({ status: 404 });
  });
});
