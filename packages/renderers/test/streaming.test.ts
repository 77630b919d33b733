import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { encodeMessage, type Renderer, type ResponseDelta, type StreamOptions } from '../src/index.js';
import { attempt, RENDERER_FILES, readVectors, rendererOf, type VectorFile } from './harness/vectors.js';

interface Outcome {
  readonly text: string;
  readonly final: string;
  readonly termination: string;
}

/** Neighboring deltas of one block joined, because a cut may split them. */
function join(deltas: readonly ResponseDelta[]): string {
  const joined: string[] = [];
  let block = '';
  for (const delta of deltas) {
    const key = delta.type === 'text' || delta.type === 'thinking' ? `${delta.type} ${delta.contentIndex}` : '';
    const value = delta.type === 'text' ? delta.text : delta.type === 'thinking' ? delta.thinking : JSON.stringify(delta);
    if (key !== '' && key === block) joined[joined.length - 1] += value;
    else joined.push(`${key} ${value}`);
    block = key;
  }
  return joined.join('\n');
}

function stream(renderer: Renderer, pieces: readonly (readonly number[])[], options: StreamOptions): Outcome {
  const response = renderer.streamResponse(options);
  const deltas = pieces.flatMap((piece) => response.push(piece));
  const finished = response.finish();
  return {
    text: join([...deltas, ...finished.deltas]),
    final: JSON.stringify(encodeMessage(finished.message)),
    termination: finished.termination,
  };
}

/** A stream ignores what follows the stop token; sampling never gives it. */
function untilStop(renderer: Renderer, tokens: readonly number[]): readonly number[] {
  const stops: readonly (number | string)[] = renderer.getStopSequences();
  const end = tokens.findIndex((token) => stops.includes(token));
  return end < 0 ? tokens : tokens.slice(0, end + 1);
}

/** Files on the stand-in tokenizer: one per renderer, each with the cases of the real ones. */
const FILES = RENDERER_FILES.filter((file) => !file.includes('@') && (readVectors<VectorFile>(file).parse ?? []).length > 0);

describe.each(FILES)('%s', (file) => {
  const vectors = readVectors<VectorFile>(file);

  it('gives the same for every cut of every response, and what reading it as a whole gives', () => {
    const renderer = rendererOf(vectors);
    const problems = (vectors.parse ?? []).flatMap(({ id, in: tokens }) =>
      [{ thinkingPrefilled: false, toolCalls: 'text' } as const, {}].flatMap((options) =>
        problemsOf(renderer, tokens, options).map((problem) => `${id}: ${problem}`),
      ),
    );
    expect(problems.slice(0, 5)).toEqual([]);
  });
});

function problemsOf(renderer: Renderer, tokens: readonly number[], options: StreamOptions): string[] {
  const parsed = attempt(() => renderer.parseResponse(untilStop(renderer, tokens)));
  // A call that has no form as a tool call.
  if (parsed === 'refused') return [];
  const whole = stream(renderer, [tokens], options);
  const isOther = parsed.termination !== 'malformed' && whole.final !== JSON.stringify(encodeMessage(parsed.message));
  const cuts = Array.from({ length: tokens.length + 1 }, (_, cut) => cut);
  const differing = cuts.filter((cut) => !isDeepStrictEqual(stream(renderer, [tokens.slice(0, cut), tokens.slice(cut)], options), whole));
  return [
    ...(whole.termination === parsed.termination ? [] : [`${whole.termination} instead of ${parsed.termination}`]),
    ...(isOther ? ['another message'] : []),
    ...differing.map((cut) => `differs when cut at ${cut}`),
  ];
}
