import { APICallError, type LanguageModelV3StreamPart, NoSuchModelError } from '@ai-sdk/provider';
import { AuthenticationError, RateLimitError } from '@tinkex/types';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createTinkex } from '../src/index.js';
import { scriptedModel } from './harness/scripted-sampler.js';

// The tests check warnings themselves.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const END = '<|im_end|>';
const THINK = '<think>\nTwo and two.\n</think>\n\n';
const CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>';
const weather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
});

function provided(answers: readonly string[], options: { pieceTokens?: number; maxAttempts?: number; contextLength?: number } = {}) {
  const { contextLength, ...limits } = options;
  const model = scriptedModel(answers, { contextLength });
  return { sampler: model.sampler, model: createTinkex({ models: { mine: model }, ...limits })('mine') };
}

/** The parts of a stream, checked for a legal order: each block is started once, filled, ended, and finish is last. */
async function partsOf(stream: ReadableStream<LanguageModelV3StreamPart>): Promise<LanguageModelV3StreamPart[]> {
  const parts: LanguageModelV3StreamPart[] = [];
  const open = new Set<string>();
  for await (const part of stream as unknown as AsyncIterable<LanguageModelV3StreamPart>) {
    const [, kind, step] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(part.type) ?? [];
    if (kind !== undefined && 'id' in part) {
      const key = `${kind} ${part.id}`;
      expect(open.has(key)).toBe(step !== 'start');
      if (step === 'start') open.add(key);
      if (step === 'end') open.delete(key);
    }
    parts.push(part);
  }
  expect(open.size).toBe(0);
  expect(parts[0]?.type).toBe('stream-start');
  expect(parts.findIndex(({ type }) => type === 'finish')).toBe(parts.length - 1);
  return parts;
}

const PROMPT = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'What is 2 + 2?' }] }];

describe('generateText', () => {
  it('gives text, reasoning, usage and the finish reason', async () => {
    const { model, sampler } = provided([`${THINK}Four.${END}`]);
    const { text, reasoningText, finishReason, usage, warnings } = await generateText({
      model,
      system: 'Be brief.',
      prompt: 'What is 2 + 2?',
    });
    expect([text, reasoningText, finishReason, warnings]).toEqual(['Four.', 'Two and two.', 'stop', []]);
    expect(usage.inputTokens).toBe(sampler.inputs[0]?.prompt.length);
    expect(usage.outputTokens).toBeGreaterThan(5);
    expect(sampler.prompts[0]).toContain('<|im_start|>system\nBe brief.');
  });

  it('passes settings on, and ends at the limit and at stop sequences', async () => {
    const { model, sampler } = provided([`One two three four.${END}`, `One two three four.${END}`]);
    const settings = { temperature: 0.3, topP: 0.9, topK: 5, seed: 7 };
    const limited = await generateText({ model, prompt: 'Count.', maxOutputTokens: 3, ...settings });
    expect([limited.finishReason, limited.usage.outputTokens]).toEqual(['length', 3]);
    expect(sampler.inputs[0]?.samplingParams).toMatchObject({ maxTokens: 3, temperature: 0.3, topP: 0.9, topK: 5, seed: 7 });
    const stopped = await generateText({ model, prompt: 'Count again.', stopSequences: ['three'] });
    expect([stopped.text, stopped.finishReason]).toEqual(['One two ', 'stop']);
  });

  it('calls tools and answers with their results', async () => {
    const { model, sampler } = provided([`${CALL}${END}`, `It is sunny.${END}`]);
    const { text, steps } = await generateText({ model, prompt: 'Weather in Oslo?', tools: { weather }, stopWhen: stepCountIs(2) });
    expect(text).toBe('It is sunny.');
    expect(steps[0]?.finishReason).toBe('tool-calls');
    expect(steps[0]?.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Oslo' } }]);
    expect(sampler.prompts[0]).toContain('"weather"');
    expect(sampler.prompts[1]).toContain('<tool_response>\nsunny in Oslo');
  });

  it('samples again until a required tool is called', async () => {
    const { model, sampler } = provided([`I will not.${END}`, `${CALL}${END}`]);
    const { toolCalls } = await generateText({ model, prompt: 'Weather?', tools: { weather }, toolChoice: 'required' });
    expect(toolCalls).toHaveLength(1);
    expect(sampler.inputs).toHaveLength(2);
  });

  it('warns about settings that have no effect', async () => {
    const { model } = provided([`Yes.${END}`]);
    const { warnings } = await generateText({ model, prompt: 'Well?', presencePenalty: 0.5, frequencyPenalty: 0.5 });
    expect(warnings).toEqual([
      { type: 'unsupported', feature: 'presencePenalty' },
      { type: 'unsupported', feature: 'frequencyPenalty' },
    ]);
  });

  it('takes the options of this provider, and returns tokens on request', async () => {
    const { model, sampler } = provided([` is four.${END}`]);
    const { providerMetadata } = await generateText({
      model,
      prompt: 'Sum?',
      providerOptions: { tinkex: { prefill: 'It', returnTokens: true } },
    });
    expect(sampler.prompts[0]?.endsWith('It')).toBe(true);
    const { tokens, logprobs, sequenceIds } = (providerMetadata?.['tinkex'] ?? {}) as Record<string, unknown[]>;
    expect([tokens?.length, sequenceIds]).toEqual([logprobs?.length, ['sequence-1']]);
    for (const tinkex of [{ prefil: 'x' }, { reasoningEffort: 'enormous' }, { returnTokens: 1 }]) {
      await expect(generateText({ model, prompt: 'x', providerOptions: { tinkex } as never })).rejects.toThrow(/providerOptions\.tinkex\./);
    }
  });
});

describe('generateObject', () => {
  const schema = z.object({ sum: z.number() });

  it('samples again until the answer fits the schema', async () => {
    const { model, sampler } = provided([`four${END}`, `{"sum": "four"}${END}`, `{"sum": 4}${END}`]);
    const { object, usage } = await generateObject({ model, schema, prompt: '2 + 2' });
    expect(object).toEqual({ sum: 4 });
    expect(sampler.inputs).toHaveLength(3);
    expect(usage.outputTokens).toBeGreaterThan(5);
  });

  it('says what is wrong after the last attempt', async () => {
    const { model } = provided([`no${END}`, `no${END}`], { maxAttempts: 2 });
    await expect(generateObject({ model, schema, prompt: '2 + 2', maxRetries: 0 })).rejects.toThrow(/in 2 attempts: it is not JSON/);
  });
});

describe('streamText', () => {
  it('streams reasoning and text in pieces that add up to the whole answer', async () => {
    const answer = `${THINK}The sum of two and two is four.${END}`;
    const { model, sampler } = provided([answer], { pieceTokens: 4 });
    const { stream } = await model.doStream({ prompt: PROMPT });
    const parts = await partsOf(stream);
    const joined = (type: string): string => parts.flatMap((part) => (part.type === type && 'delta' in part ? [part.delta] : [])).join('');
    expect([joined('reasoning-delta'), joined('text-delta')]).toEqual(['Two and two.', 'The sum of two and two is four.']);
    expect(parts.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(1);
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: 'stop' } });
    const { model: whole } = provided([answer]);
    const generated = await whole.doGenerate({ prompt: PROMPT });
    expect(parts.at(-1)).toMatchObject({ usage: generated.usage });
    expect(sampler.inputs.length).toBeGreaterThan(2);
  });

  it('streams tool calls', async () => {
    const { model } = provided([`${CALL}${END}`], { pieceTokens: 5 });
    const inputSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } };
    const { stream } = await model.doStream({ prompt: PROMPT, tools: [{ type: 'function', name: 'weather', inputSchema }] });
    const parts = await partsOf(stream);
    const call = parts.find((part) => part.type === 'tool-call');
    expect(call).toMatchObject({ toolName: 'weather' });
    expect(JSON.parse(call?.type === 'tool-call' ? call.input : '')).toEqual({ city: 'Oslo' });
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: 'tool-calls', raw: 'tool_calls' } });
  });

  it('works in the AI SDK', async () => {
    const { model } = provided([`One two three.${END}`], { pieceTokens: 2 });
    const { textStream, finishReason } = streamText({ model, prompt: 'Count.' });
    let text = '';
    for await (const delta of textStream) text += delta;
    expect([text, await finishReason]).toEqual(['One two three.', 'stop']);
  });

  it('stops sampling when the reader leaves, and when the signal aborts', async () => {
    const { model, sampler } = provided([`One two three four five six seven eight.${END}`], { pieceTokens: 2 });
    const { stream } = await model.doStream({ prompt: PROMPT });
    const reader = stream.getReader();
    for (let part = await reader.read(); part.value?.type !== 'text-delta'; part = await reader.read());
    await reader.cancel();
    expect(sampler.inputs.length).toBeLessThan(4);

    const other = provided([`One two three four five six.${END}`], { pieceTokens: 2 });
    const stop = new AbortController();
    other.sampler.onSample = () => {
      if (other.sampler.inputs.length === 2) stop.abort(new Error('enough'));
    };
    const aborted = await other.model.doStream({ prompt: PROMPT, abortSignal: stop.signal });
    await expect(partsOf(aborted.stream)).rejects.toMatchObject({ name: 'AbortError' });
    expect([other.sampler.aborted, other.sampler.inputs.length]).toEqual([1, 2]);
  });

  it('ends with an error part when sampling fails in the middle', async () => {
    const { model, sampler } = provided([`One two three four.${END}`], { pieceTokens: 2 });
    sampler.onSample = () => {
      if (sampler.inputs.length === 2) throw new Error('the sampler broke');
    };
    const { stream } = await model.doStream({ prompt: PROMPT });
    const types: string[] = [];
    for await (const { type } of stream as unknown as AsyncIterable<LanguageModelV3StreamPart>) types.push(type);
    expect(types.at(-1)).toBe('error');
  });
});

describe('failures', () => {
  it('are errors of the AI SDK that say whether to try again', async () => {
    const { model, sampler } = provided(['x']);
    sampler.onSample = () => {
      throw new RateLimitError({ message: 'Too many requests.', status: 429, retryAfterMs: 250 });
    };
    const error = await model.doGenerate({ prompt: PROMPT }).then(undefined, (reason: unknown) => reason);
    expect(APICallError.isInstance(error) && [error.statusCode, error.isRetryable, error.responseHeaders]).toEqual([
      429,
      true,
      { 'retry-after-ms': '250' },
    ]);
  });

  it('say that a key is wrong, and not to try again', async () => {
    const { model, sampler } = provided(['x']);
    sampler.onSample = () => {
      throw new AuthenticationError({ message: 'The key is wrong.', status: 401 });
    };
    const failed = generateText({ model, prompt: 'x' });
    await expect(failed).rejects.toMatchObject({ statusCode: 401, isRetryable: false, message: 'The key is wrong.' });
    expect(sampler.inputs).toHaveLength(1);
  });

  it('refuse an unknown model, a prompt that does not fit, and content that no template can write', async () => {
    const tinkex = createTinkex({ models: { mine: scriptedModel([]) } });
    await expect(generateText({ model: tinkex('other'), prompt: 'x' })).rejects.toSatisfy(NoSuchModelError.isInstance);
    const { model } = provided(['x'], { contextLength: 4 });
    await expect(model.doStream({ prompt: PROMPT })).rejects.toThrow('maximum context length is 4 tokens');
    const file = { type: 'file' as const, mediaType: 'application/pdf', data: new Uint8Array(1) };
    await expect(tinkex('mine').doGenerate({ prompt: [{ role: 'user', content: [file] }] })).rejects.toThrow('application/pdf');
    expect(() => tinkex.embeddingModel('mine')).toThrow('language models only');
    expect(() => createTinkex({})).toThrow('either a service or models');
    expect(() => createTinkex({ models: {}, pieceTokens: 0 })).toThrow('pieceTokens must be a positive whole number');
  });
});
