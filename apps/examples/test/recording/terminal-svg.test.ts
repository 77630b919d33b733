import { describe, expect, it } from 'vitest';
import { type Frame, terminalSvg, thinFrames } from './terminal-svg.js';

const frame = (atMs: number, text: string): Frame => ({ atMs, lines: [[{ text, isBold: false }]] });

describe('terminalSvg', () => {
  it('shows each frame from its time on, and the last one to readers who ask for less motion', () => {
    const svg = terminalSvg([frame(0, 'first'), frame(2_000, 'a < b')], { title: 'npm start', columns: 80 });
    expect(svg).toContain('.f0{animation:f0 8000ms step-end infinite}');
    expect(svg).toContain('@keyframes f1{0%{opacity:0}25.00%{opacity:1}100%{opacity:1}}');
    expect(svg).toContain('<g class="f f1 last">');
    expect(svg).toContain('a &lt; b');
  });

  it('keeps columns, colors and weights', () => {
    const lines = [
      [
        { text: 'step ', isBold: true },
        { text: '3', color: 2, isBold: false },
      ],
    ];
    const svg = terminalSvg([{ atMs: 0, lines }], { title: 'npm start', columns: 80 });
    expect(svg).toMatch(/<text x="20.0" [^>]*class="b"[^>]*>step <\/text><text x="62.0" [^>]*style="fill:#4ade80"[^>]*>3<\/text>/);
  });
});

describe('thinFrames', () => {
  it('keeps frames evenly over time, and the last one', () => {
    const frames = Array.from({ length: 101 }, (_, index) => frame(index * 10, String(index)));
    const thin = thinFrames(frames, 11);
    expect(thin.length).toBeLessThanOrEqual(12);
    expect(thin.at(-1)).toBe(frames.at(-1));
    expect(thinFrames(frames.slice(0, 3), 11)).toHaveLength(3);
  });
});
