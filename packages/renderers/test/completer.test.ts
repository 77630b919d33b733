import { AbortedError, ConfigurationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import {
  type CompleterOptions,
  type Completion,
  type CompletionEvent,
  type CompletionOptions,
  createCompleter,
  getRenderer,
  type Message,
  type Renderer,
} from '../src/index.js';
import { ScriptedSampler } from './harness/scripted-sampler.js';
import { tokenizerOf } from './harness/tokenizers.js';

const tokenizer = tokenizerOf('stand-in');
const QUESTION: Message[] = [{ role: 'user', content: 'What is 2 + 2?' }];
const encode = (text: string): number[] => Array.from(tokenizer.encode(text));

const ANSWERS: Readonly<Record<string, string>> = {
  text: 'It is four — 四 😀!<|im_end|>',
  thinking: '<think>\nadd them\n</think>\n\nIt is four.<|im_end|>',
  calls: 'Let me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n</tool_call><|im_end|>',
  cut: '<think>\nThis never ends, because',
};

function setUp(answers: readonly string[], options: Partial<CompleterOptions> = {}, renderer: Renderer = getRenderer('qwen3', tokenizer)) {
  const promptTokens = renderer.buildGenerationPrompt(QUESTION).length;
  const sampler = new ScriptedSampler(tokenizer, promptTokens, answers.map(encode));
  return { sampler, renderer, promptTokens, complete: createCompleter({ sampler, renderer, ...options }) };
}

async function collect(events: AsyncIterable<CompletionEvent>): Promise<{ events: CompletionEvent[]; completion: Completion }> {
  const all: CompletionEvent[] = [];
  for await (const event of events) all.push(event);
  const last = all.at(-1);
  if (last?.type !== 'completion') throw new Error('The last event must be the completion.');
  return { events: all, completion: last.completion };
}

const textOf = (events: readonly CompletionEvent[], sample = 0): string =>
  events.map((event) => (event.type === 'text' && event.sample === sample ? event.text : '')).join('');

describe('createCompleter', () => {
  it('answers with a message, its tokens, log-probabilities and usage', async () => {
    const { complete, sampler, renderer, promptTokens } = setUp([ANSWERS['text'] as string], {
      samplingParams: { maxTokens: 64, temperature: 0.5 },
    });
    const completion = await complete(QUESTION);
    const tokens = encode(ANSWERS['text'] as string);
    expect(completion).toMatchObject({
      message: { role: 'assistant', content: 'It is four — 四 😀!' },
      termination: 'stop_sequence',
      finishReason: 'stop',
      usage: { promptTokens, completionTokens: tokens.length },
    });
    expect(Array.from(completion.tokens)).toEqual(tokens);
    expect(completion.logprobs).toHaveLength(tokens.length);
    expect(sampler.inputs).toEqual([
      {
        prompt: renderer.buildGenerationPrompt(QUESTION),
        numSamples: 1,
        samplingParams: { maxTokens: 64, temperature: 0.5, stop: renderer.getStopSequences() },
      },
    ]);
  });

  it('gives the likeliest tokens and the names of the samples, whole and in pieces', async () => {
    const set = setUp(['One two three.<|im_end|>'], { pieceTokens: 2 });
    const whole = await set.complete(QUESTION, { topLogprobs: 1 });
    const { completion, events } = await collect(set.complete.stream(QUESTION, { topLogprobs: 1 }));
    const rows = Array.from(whole.tokens, (token, index) => [[token, -(index + 1)]]);
    expect(whole.topkLogprobs?.toList()).toEqual(rows);
    expect(completion.topkLogprobs?.toList()).toEqual(rows);
    expect(events.flatMap((event) => (event.type === 'tokens' ? (event.topkLogprobs?.toList() ?? []) : []))).toEqual(rows);
    expect(whole.sequenceIds).toEqual(['sample-0-from-0']);
    expect(completion.sequenceIds.slice(0, 2)).toEqual(['sample-0-from-0', 'sample-0-from-2']);
    expect((await set.complete(QUESTION)).topkLogprobs).toBeUndefined();
  });

  it('reports tool calls, and an answer that was cut', async () => {
    expect(await setUp([ANSWERS['calls'] as string]).complete(QUESTION)).toMatchObject({
      finishReason: 'tool_calls',
      message: { toolCalls: [{ function: { name: 'add' } }] },
    });
    expect(await setUp([ANSWERS['cut'] as string]).complete(QUESTION)).toMatchObject({ finishReason: 'length', termination: 'malformed' });
  });

  it('gives every sample of a call, the first one also as the completion', async () => {
    const { complete, sampler } = setUp(['One.<|im_end|>', 'Two.<|im_end|>']);
    const { message, choices, usage } = await complete(QUESTION, { numSamples: 2 });
    expect([message.content, ...choices.map((choice) => choice.message.content)]).toEqual(['One.', 'One.', 'Two.']);
    expect(usage.completionTokens).toBe(encode('One.<|im_end|>Two.<|im_end|>').length);
    expect(sampler.inputs).toHaveLength(1);
  });

  it('passes prompt options and settings of a call on', async () => {
    const { complete, sampler, renderer } = setUp([ANSWERS['text'] as string], { samplingParams: { temperature: 1, topK: 5 } });
    const options: CompletionOptions = { prefill: 'Well,', samplingParams: { temperature: 0 } };
    await complete(QUESTION, options);
    expect(sampler.inputs[0]?.prompt).toEqual(renderer.buildGenerationPrompt(QUESTION, { prefill: 'Well,' }));
    expect(sampler.inputs[0]?.samplingParams).toMatchObject({ temperature: 0, topK: 5 });
  });

  it('refuses pieces without tokens', () => {
    expect(() => setUp([''], { pieceTokens: 0 })).toThrow('pieceTokens must be a positive whole number, got 0.');
  });
});

describe('streaming', () => {
  const cases = Object.entries(ANSWERS).flatMap(([name, answer]) =>
    [1, 2, 3, 5, 100].map((pieceTokens) => ({ name, answer, pieceTokens })),
  );

  it.each(cases)('$name in pieces of $pieceTokens equals the unstreamed answer', async ({ answer, pieceTokens }) => {
    const { complete } = setUp([answer], { pieceTokens, samplingParams: { maxTokens: encode(answer).length } });
    const { events, completion } = await collect(complete.stream(QUESTION));
    const unstreamed = await complete(QUESTION);
    expect(completion).toEqual(unstreamed);
    const sampled = events.flatMap((event) => (event.type === 'tokens' ? Array.from(event.tokens) : []));
    expect(sampled).toEqual(Array.from(unstreamed.tokens));
  });

  it('yields what is known after each piece, and requests no more than a piece', async () => {
    const { complete, sampler, promptTokens } = setUp([ANSWERS['text'] as string], { pieceTokens: 4 });
    const { events } = await collect(complete.stream(QUESTION));
    expect(textOf(events)).toBe('It is four — 四 😀!');
    expect(events.findIndex(({ type }) => type === 'text')).toBeLessThan(events.findLastIndex(({ type }) => type === 'tokens'));
    expect(sampler.inputs.map(({ samplingParams }) => samplingParams.maxTokens)).toEqual(sampler.inputs.map(() => 4));
    expect(sampler.inputs.map(({ prompt }) => prompt.length)).toEqual(sampler.inputs.map((_, index) => promptTokens + index * 4));
  });

  it('keeps to maxTokens across pieces', async () => {
    const { complete, sampler } = setUp(['a '.repeat(100)], { pieceTokens: 4, samplingParams: { maxTokens: 10 } });
    const { completion } = await collect(complete.stream(QUESTION));
    expect(sampler.inputs.map(({ samplingParams }) => samplingParams.maxTokens)).toEqual([4, 4, 2]);
    expect(completion).toMatchObject({ finishReason: 'length', usage: { completionTokens: 10 } });
  });

  it('ends where the context is full: a piece is shorter than requested', async () => {
    const { complete, sampler } = setUp(['abc def ghi'], { pieceTokens: 4 });
    const { completion } = await collect(complete.stream(QUESTION));
    expect(completion.finishReason).toBe('length');
    expect(sampler.inputs.length).toBe(Math.floor(encode('abc def ghi').length / 4) + 1);
  });

  it('finds a stop text that begins in one piece and ends in another', async () => {
    const renderer = getRenderer('role_colon', tokenizer);
    const answer = ' Four.\n\nUser: and 3 + 3?';
    const unstreamed = await setUp([answer], {}, renderer).complete(QUESTION);
    for (const pieceTokens of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const { completion } = await collect(setUp([answer], { pieceTokens }, renderer).complete.stream(QUESTION));
      expect(completion).toEqual(unstreamed);
    }
    expect(unstreamed).toMatchObject({ finishReason: 'stop', message: { content: 'Four.' } });
  });

  it('streams several samples side by side, each with a different seed', async () => {
    const { complete, sampler } = setUp(['One.<|im_end|>', 'Two and more.<|im_end|>'], { pieceTokens: 2 });
    const { events, completion } = await collect(complete.stream(QUESTION, { numSamples: 2, samplingParams: { seed: 4 } }));
    expect([textOf(events, 0), textOf(events, 1)]).toEqual(['One.', 'Two and more.']);
    expect(completion.choices.map(({ message }) => message.content)).toEqual(['One.', 'Two and more.']);
    expect(new Set(sampler.inputs.map(({ samplingParams }) => samplingParams.seed))).toEqual(new Set([4, 5n]));
  });

  it('samples no further piece when the caller leaves the loop', async () => {
    const { complete, sampler } = setUp([ANSWERS['text'] as string], { pieceTokens: 1 });
    for await (const event of complete.stream(QUESTION)) if (event.type === 'text') break;
    expect(sampler.inputs.length).toBeLessThan(encode(ANSWERS['text'] as string).length / 2);
  });
});

describe('stopping where the caller says', () => {
  it.each([1, 2, 5, 100])('cuts the answer at a text, also in pieces of %i', async (pieceTokens) => {
    const options = { pieceTokens, samplingParams: { stop: ['four ', '四'] } };
    const { complete, sampler, renderer } = setUp([ANSWERS['text'] as string], options);
    const { events, completion } = await collect(complete.stream(QUESTION));
    expect(textOf(events)).toBe('It is ');
    expect(completion).toMatchObject({ message: { content: 'It is ' }, finishReason: 'stop', termination: 'stop_sequence' });
    expect(sampler.inputs[0]?.samplingParams.stop).toEqual(renderer.getStopSequences());
    expect((await complete(QUESTION)).message).toEqual(completion.message);
  });

  it('keeps thinking, and gives back text that only looked like the beginning of a stop', async () => {
    const { complete } = setUp([ANSWERS['thinking'] as string], { pieceTokens: 1, samplingParams: { stop: ['four!', 'add'] } });
    const { events, completion } = await collect(complete.stream(QUESTION));
    expect(textOf(events)).toContain('It is four.');
    expect(completion.message.content).toEqual((await setUp([ANSWERS['thinking'] as string]).complete(QUESTION)).message.content);
  });

  it('drops tool calls after the stop text', async () => {
    const { complete } = setUp([ANSWERS['calls'] as string], { samplingParams: { stop: 'me' } });
    const { message, finishReason } = await complete(QUESTION);
    expect(finishReason).toBe('stop');
    expect(message.toolCalls).toBeUndefined();
    expect(JSON.stringify(message.content)).toContain('Let ');
  });

  it('stops at tokens too, and leaves them out of the message', async () => {
    const [stop] = encode('!') as [number];
    const { complete, sampler, renderer } = setUp(['Four!<|im_end|>'], { samplingParams: { stop: [stop] } });
    const { message, tokens, finishReason } = await complete(QUESTION);
    expect([message.content, finishReason, tokens.at(-1)]).toEqual(['Four', 'stop', stop]);
    expect(sampler.inputs[0]?.samplingParams.stop).toEqual([...renderer.getStopSequences(), stop]);
  });

  it('refuses tokens with a renderer that stops at texts', async () => {
    const { complete } = setUp(['x'], { samplingParams: { stop: [1] } }, getRenderer('role_colon', tokenizer));
    await expect(complete(QUESTION)).rejects.toThrow(ConfigurationError);
  });
});

describe('aborting', () => {
  it('makes no request with an aborted signal', async () => {
    const { complete, sampler } = setUp([ANSWERS['text'] as string]);
    const signal = AbortSignal.abort(new Error('stop it'));
    await expect(complete(QUESTION, { signal })).rejects.toThrow(AbortedError);
    await expect(collect(complete.stream(QUESTION, { signal }))).rejects.toMatchObject({ cause: new Error('stop it') });
    expect(sampler.inputs).toEqual([]);
  });

  it('ends between pieces, and passes the signal to the sampler', async () => {
    const { complete, sampler } = setUp([ANSWERS['text'] as string], { pieceTokens: 2 });
    const controller = new AbortController();
    sampler.onSample = () => {
      if (sampler.inputs.length === 3) controller.abort();
    };
    await expect(collect(complete.stream(QUESTION, { signal: controller.signal }))).rejects.toThrow(AbortedError);
    expect(sampler.inputs).toHaveLength(3);
    expect(sampler.signals).toEqual([controller.signal, controller.signal, controller.signal]);
  });

  it('passes the failure of a sampler on', async () => {
    const { complete, sampler } = setUp([ANSWERS['text'] as string]);
    sampler.onSample = () => {
      throw new RangeError('no');
    };
    await expect(complete(QUESTION)).rejects.toThrow(RangeError);
    await expect(collect(complete.stream(QUESTION))).rejects.toThrow(RangeError);
  });
});
