import { describe, expect, it } from 'vitest';
import { officialClients } from './harness/clients.js';
import { scriptedModel } from './harness/scripted-model.js';

const QUESTION = [{ role: 'user' as const, content: 'What is 2 + 2?' }];
const CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n</tool_call>';
/** Two calls at first, then one. */
const impatient = () => scriptedModel((_, attempt) => (attempt === 0 ? `${CALL}\n${CALL}<|im_end|>` : `${CALL}<|im_end|>`));
const parameters = { type: 'object' as const, properties: {} };
const OPENAI_TOOLS = [{ type: 'function' as const, function: { name: 'add', parameters } }];
const ANTHROPIC_TOOLS = [{ name: 'add', description: 'Adds.', input_schema: parameters }];

describe('parallel tool calls', () => {
  it('are allowed unless the request turns them off', async () => {
    const model = impatient();
    const { openai, anthropic } = officialClients({ models: { m: model } });
    const { choices } = await openai.chat.completions.create({ model: 'm', messages: QUESTION, tools: OPENAI_TOOLS });
    expect(choices[0]?.message.tool_calls).toHaveLength(2);
    const other = await anthropic.messages.create({ model: 'm', max_tokens: 99, messages: QUESTION, tools: ANTHROPIC_TOOLS });
    expect(other.stop_reason).toBe('tool_use');
    expect(model.sampler.inputs).toHaveLength(2);
  });

  it('are sampled again when they are turned off, streamed or not', async () => {
    const request = { model: 'm', messages: QUESTION, tools: OPENAI_TOOLS, parallel_tool_calls: false };
    const { openai } = officialClients({ models: { m: impatient() } });
    const { choices } = await openai.chat.completions.create(request);
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
    const streaming = officialClients({ models: { m: impatient() } }).openai;
    const calls = [];
    for await (const chunk of await streaming.chat.completions.create({ ...request, stream: true }))
      calls.push(...(chunk.choices[0]?.delta.tool_calls ?? []));
    expect(calls).toHaveLength(1);
    const { anthropic } = officialClients({ models: { m: impatient() } });
    const { content } = await anthropic.messages.create({
      model: 'm',
      max_tokens: 99,
      messages: QUESTION,
      tools: ANTHROPIC_TOOLS,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    expect(content.filter(({ type }) => type === 'tool_use')).toHaveLength(1);
  });

  it('fail the request when the model insists on them', async () => {
    const { openai } = officialClients({ models: { m: scriptedModel(() => `${CALL}\n${CALL}<|im_end|>`) }, maxAttempts: 2 });
    const request = { model: 'm', messages: QUESTION, tools: OPENAI_TOOLS, parallel_tool_calls: false };
    await expect(openai.chat.completions.create(request)).rejects.toThrow('in 2 attempts: it calls 2 tools');
  });
});
