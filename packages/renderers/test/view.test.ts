import { image, ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { EXAMPLE_STYLE, getRenderer, showExample, showExampleHtml } from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';

const tokenizer = tokenizerOf('stand-in');
const renderer = getRenderer('qwen3_instruct', tokenizer);
const example = renderer.buildSupervisedExample([
  { role: 'user', content: 'Hi <b>&"you"</b>' },
  { role: 'assistant', content: 'Hello 四!\nBye' },
]);
const weighed = (text: string, weights: readonly number[]) => ({
  modelInput: ModelInput.fromInts(Array.from(tokenizer.encode(text))),
  weights: Float32Array.from(weights),
});

describe('showExample', () => {
  it('marks what is trained on, with colors or without', () => {
    const plain = '<|im_start|>user↵\nHi <b>&"you"</b><|im_end|>↵\n<|im_start|>assistant↵\n';
    const trained = 'Hello 四!↵\nBye<|im_end|>';
    const summary = `${example.weights.filter((weight) => weight === 1).length} of ${example.weights.length} tokens are trained on.`;
    expect(showExample(example, tokenizer, { color: false })).toBe(`${plain}«${trained}»\n${summary}`);
    expect(showExample(example, tokenizer)).toBe(`\u001b[2m${plain}\u001b[0m\u001b[32m${trained}\u001b[0m\n${summary}`);
  });

  it('distinguishes weights between 0 and 1 and below 0', () => {
    expect(showExample(weighed('\u0001a', [0.5, -1]), tokenizer)).toBe(
      '\u001b[33m\\x01\u001b[0m\u001b[31ma\u001b[0m\n2 of 2 tokens are trained on.',
    );
  });

  it('lets no text change the terminal', () => {
    expect(showExample(weighed('\u001b[2Jx\r', [0, 0, 0, 0, 0]), tokenizer, { color: false })).toBe(
      '\\x1b[2Jx\\x0d\n0 of 5 tokens are trained on.',
    );
  });

  it('names images', () => {
    const modelInput = ModelInput.fromInts([65])
      .append(image({ data: new Uint8Array(1), format: 'png', expectedTokens: 2 }))
      .appendInt(66);
    const shown = showExample({ modelInput, weights: Float32Array.of(0, 0, 0, 1) }, tokenizer, { color: false });
    expect(shown).toBe('A<image: 2 tokens>«B»\n1 of 4 tokens are trained on.');
  });
});

describe('showExampleHtml', () => {
  it('escapes text, and has no scripts or styles', () => {
    const html = showExampleHtml(example, tokenizer);
    const tags = new Set(html.match(/<\/?\w+/g));
    expect(tags).toEqual(new Set(['<div', '<span', '</span', '</div']));
    expect(html).not.toMatch(/style=|on\w+=/);
    expect(html.replace(/<[^>]*>/g, '')).toContain('&lt;b&gt;&amp;&quot;you&quot;&lt;/b&gt;');
  });

  it('has one element per token, with its ID and weight', () => {
    const html = showExampleHtml({ modelInput: ModelInput.fromInts([97, 98]), weights: Float32Array.of(0, 1) }, tokenizer);
    expect(html).toBe(
      '<div class="tinkex-example"><span class="tinkex-token tinkex-read" title="97, weight 0">a</span>' +
        '<span class="tinkex-token tinkex-trained" title="98, weight 1">b</span><div class="tinkex-summary">1 of 2 tokens are trained on.</div></div>',
    );
  });

  it('shows a character that several tokens make as one', () => {
    expect(showExampleHtml(weighed('😀', [1, 1, 1, 1]), tokenizer)).toMatch(/title="\d+ \d+[ \d]*, weight 1">😀</);
  });

  it('has a style for every class', () => {
    for (const name of ['example', 'token', 'read', 'trained', 'partly', 'away', 'summary'])
      expect(EXAMPLE_STYLE).toContain(`.tinkex-${name} {`);
  });
});
