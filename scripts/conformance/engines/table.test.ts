import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../packages.mjs';
import { FEATURES } from './features.js';
import { reportMarkdown, type ServerReport, withReport } from './table.js';

const REPORT: ServerReport = {
  name: 'engine',
  packageName: 'engine',
  version: '1.2',
  pythonVersion: '0.25.0',
  ours: { forward: { value: [1, 2] }, steps: { value: [1] }, publish: { error: 'Not\nFound <here>', status: 404 }, save: {} },
  python: { forward: { value: [1, 2] }, steps: { value: [1.5] }, publish: { error: 'no answer in 9 s' } },
  examples: { quickstart: {}, rl: { error: 'it failed' } },
};

describe('the tables of engines', () => {
  const text = reportMarkdown([REPORT]);

  it('say what each client did, and whether the numbers are equal', () => {
    expect(text).toContain('| feature | engine 1.2 | Python SDK 0.25.0 |');
    expect(text).toContain('| forward | yes | yes, equal |');
    expect(text).toContain('| steps | yes | yes, differs by 0.5 |');
    expect(text).toContain('| publish | no (404) | no answer in 9 s |');
    expect(text).toContain('| save | yes | – |');
  });

  it('list the error of everything that failed, in one line', () => {
    expect(text).toContain('| `rl` | no |');
    expect(text).toContain('- engine, publish: Not Found &lt;here>\n- engine, rl: it failed');
  });

  it('replace those in a document, and only those', () => {
    const guide = readFileSync(join(root, 'docs/guides/self-hosted.md'), 'utf8');
    const changed = withReport(guide, 'NEW');
    expect(withReport(changed, 'NEW')).toBe(changed);
    expect(changed.split('NEW')).toHaveLength(2);
    expect(changed.slice(0, 200)).toBe(guide.slice(0, 200));
    expect(() => withReport('nothing', 'NEW')).toThrow('has no lines');
  });
});

describe('the features', () => {
  it('have the same names in both programs', () => {
    const python = readFileSync(join(root, 'scripts/conformance/engines/features.py'), 'utf8');
    const names = [...(python.split('FEATURES = {')[1]?.split('\n}')[0] ?? '').matchAll(/^ {4}"([^"]+)":/gm)].map(([, name]) => name);
    const own = Object.keys(FEATURES);
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !own.includes(name ?? ''))).toEqual([]);
    // The Python program has no such limit, no torch, no download and no unload.
    const onlyOurs = ['custom loss', 'the same, one unfinished operation at a time', 'downloadCheckpoint', 'unload, close'];
    expect(own.filter((name) => !names.includes(name))).toEqual(onlyOurs);
  });
});
