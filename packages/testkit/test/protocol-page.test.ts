import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_RULES, type RuleId } from '../src/index.js';
import { violationOf } from '../src/rules/rules.js';
import { protocolPage } from './protocol-page.js';

const REPOSITORY = 'https://github.com/tinkex/tinkex-ts/blob/main/';

describe('the protocol page', () => {
  it('is up to date; `npm run generate` writes it', async () => {
    await expect(protocolPage()).toMatchFileSnapshot('../../../docs/protocol/README.md');
  });

  it.each(Object.keys(PROTOCOL_RULES) as RuleId[])('has exactly one section that a breach of %s links to', async (rule) => {
    const { url } = violationOf(rule, 'a detail', 0);
    const [file = '', anchor] = url.replace(REPOSITORY, '').split('#');
    const page = await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8');
    const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text.toLowerCase().replaceAll(' ', '-'));
    expect(headings.filter((heading) => heading === anchor)).toHaveLength(1);
  });
});
