import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { trainRl } from '@tinkex/cookbook';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { fileNamePart } from '../src/rl/report/iteration-files.js';
import { reportHtml } from '../src/rl/report/report-html.js';
import { caption, conversation, details, paragraph, report, reportJson, section, table, valueTable } from '../src/rl/report/report-tree.js';
import { representativeIndices } from '../src/rl/report/rollout-report.js';
import { rig } from './support/rig.js';
import { vowelGroups } from './support/vowel-groups.js';

const setup = rig();

describe('reports', () => {
  interface TreeCase {
    readonly fn: string;
    readonly expected: { readonly json: unknown; readonly htmlBody: string };
  }

  it('are written as the reference writes them, as JSON and as HTML', () => {
    const { expected } = readCookbookVectors<TreeCase>('logging').find(({ fn }) => fn === 'logtree') as TreeCase;
    const inner = section(3, 'Inner', [
      details('More', 'long\ntext'),
      conversation([
        { role: 'user', content: 'hi <b>' },
        { role: 'assistant', content: 'yo' },
      ]),
    ]);
    const root = report('Title <1>', '<time>', [
      paragraph('hello & bye'),
      section(2, 'Part', [caption('Cap'), valueTable({ a: 1, b: 'x<y' }), inner]),
      table(
        ['c', 'd'],
        [
          [1, 2],
          [3, ''],
        ],
      ),
    ]);
    expect(reportJson('Title <1>', '<time>', '<path>', root)).toEqual(expected.json);
    const html = reportHtml('Title <1>', root);
    expect(html.slice(html.indexOf('<body'))).toBe(expected.htmlBody);
    expect(html).toContain('<title>Title &lt;1&gt;</title>');
  });

  interface SmallCase {
    readonly fn: string;
    readonly input: unknown;
    readonly expected: unknown;
  }
  const small = (name: string) => readCookbookVectors<SmallCase>('small-functions').filter(({ fn }) => fn === name);

  it.each(small('select_representative_inds'))('%# choose from the worst to the best', ({ input, expected }) => {
    const { scores, count } = input as { scores: number[]; count: number };
    expect(representativeIndices(scores, count)).toEqual(expected);
  });

  it.each(small('sanitize_filename_component'))('%# have names that are file names', ({ input, expected }) => {
    expect(fileNamePart(input as string)).toBe(expected);
  });
});

describe('the report of an iteration', () => {
  const OPTIONS = { model: 'tinkex/tiny', learningRate: 0.02, maxTokens: 4, groupsPerBatch: 4, groupSize: 12, maxSteps: 1, saveEvery: 0 };

  it('shows prompts, answers and rewards of the first groups, safely, turn by turn', async () => {
    const hostile = vowelGroups(4, { turns: 2 }).map((group) => ({ ...group, tags: ['<script>alert(1)</script>'] }));
    const { logPath } = await trainRl({
      ...OPTIONS,
      service: setup.connect(),
      dataset: hostile,
      shuffle: false,
      testDataset: vowelGroups(1),
      numGroupsToLog: 2,
      logPath: join(setup.folder, 'run'),
    });
    const html = await readFile(join(logPath, 'iteration_000000/train.html'), 'utf8');
    expect(html).toContain('2 of 4 groups.');
    expect(html).not.toContain('<script>');
    expect(html).toContain('Group 0 (&lt;script&gt;');
    // Eight of twelve episodes of each group, two turns each; the second shows only what is new.
    expect(html.match(/>Episode \d+</g)).toHaveLength(2 * 8);
    expect(html.match(/>Turn 2</g)).toHaveLength(2 * 8);
    expect(html.match(/vowels 0:/g)).toHaveLength(8);
    expect(html).toContain('<td>advantage</td>');
    const tree = JSON.parse(await readFile(join(logPath, 'iteration_000000/train_logtree.json'), 'utf8')) as { title: string };
    expect(tree.title).toBe('RL iteration 0');
    expect(await readFile(join(logPath, 'iteration_000000/eval_test.html'), 'utf8')).toContain('RL test iteration 0');
  });

  it('is left out with numGroupsToLog 0', async () => {
    const options = { ...OPTIONS, numGroupsToLog: 0, service: setup.connect(), dataset: vowelGroups(4), evalEvery: 0 };
    const { logPath } = await trainRl({ ...options, logPath: join(setup.folder, 'none') });
    await access(join(logPath, 'iteration_000000/train_rollout_summaries.jsonl'));
    await expect(access(join(logPath, 'iteration_000000/train.html'))).rejects.toThrow('ENOENT');
  });
});
