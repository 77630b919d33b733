import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const guideUrl = new URL('../../../docs/guides/telemetry.md', import.meta.url);

/** Expects a table of the guide, between the marks of its name, to be these lines; writes them there with `TINKEX_UPDATE_DOCS=1`. */
export function expectGuideTable(name: string, lines: readonly string[]): void {
  const begin = `<!-- ${name}:begin (written by the tests of @tinkex/telemetry with TINKEX_UPDATE_DOCS=1) -->`;
  const end = `<!-- ${name}:end -->`;
  const guide = readFileSync(guideUrl, 'utf8');
  const [before, rest] = guide.split(begin);
  const after = rest?.split(end)[1];
  expect(after, `the guide has lost the marks around the table of ${name}`).toBeDefined();
  const updated = `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${after}`;
  if (process.env['TINKEX_UPDATE_DOCS'] === '1') writeFileSync(guideUrl, updated);
  else expect(guide === updated, `the table of ${name} is out of date: run the tests with TINKEX_UPDATE_DOCS=1`).toBe(true);
}
