import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  conversationDataset,
  conversationsFrom,
  conversationsFromJsonl,
  conversationsFromParquet,
  trainSupervised,
} from '@tinkex/cookbook';
import { type Conversation, getRenderer } from '@tinkex/renderers';
import { ByteTokenizer, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { rig } from './support/rig.js';

const setup = rig();
const bytes = new ByteTokenizer();
const renderer = getRenderer('role_colon', bytes);
const talk = (question: string, answer: string): Conversation => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ],
});

async function file(name: string, lines: readonly unknown[]): Promise<string> {
  const path = join(setup.folder, name);
  await writeFile(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

describe('JSONL files', () => {
  it('are read in all three formats, recognized line by line', async () => {
    const path = await file('mixed.jsonl', [
      { messages: [{ role: 'system', content: 'Be brief.' }, ...talk('2+2?', '4').messages], id: 7 },
      '',
      {
        conversations: [
          { from: 'human', value: 'Hi' },
          { from: 'gpt', value: 'Hello' },
        ],
      },
      { instruction: 'Add', input: '1 1', output: '2' },
    ]);
    const { train, test } = await conversationsFromJsonl(path, { shuffleSeed: null }).load();
    expect(train.map(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`))).toEqual([
      ['system: Be brief.', 'user: 2+2?', 'assistant: 4'],
      ['user: Hi', 'assistant: Hello'],
      ['user: Add\n1 1', 'assistant: 2'],
    ]);
    expect(test).toBeUndefined();
  });

  it('keep tools and thinking', async () => {
    const tools = [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } } }];
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y', reasoning_content: 'z' },
    ];
    const { train } = await conversationsFromJsonl(await file('tools.jsonl', [{ messages, tools }])).load();
    expect(train[0]?.tools?.[0]).toMatchObject({ name: 'f' });
    expect(train[0]?.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'z' },
      { type: 'text', text: 'y' },
    ]);
  });

  it('report every bad line of every file in one error, with file and line', async () => {
    const good = talk('a', 'b');
    const first = await file('first.jsonl', [good, '{"messages": ', good, { text: 'x' }, { messages: [] }]);
    const second = await file('second.jsonl', [{ messages: [{ role: 'user' }] }, good, '7']);
    const error = await conversationsFromJsonl([first, second])
      .load()
      .catch((thrown: unknown) => thrown as ValidationError);
    if (!ValidationError.isInstance(error)) throw new Error('The files were accepted.');
    expect(error.issues.map(({ path }) => path)).toEqual([`${first}:2`, `${first}:4`, `${first}:5`, `${second}:1`, `${second}:3`]);
    expect(error.message).toContain('5 records are not conversations. Nothing was trained.');
    expect(error.issues[3]?.message).toContain('messages[0].content');
    const service = setup.connect();
    const logPath = join(setup.folder, 'run');
    const training = trainSupervised({ service, model: 'tinkex/tiny', learningRate: 0.01, data: conversationsFromJsonl(first), logPath });
    await expect(training).rejects.toThrow('Nothing was trained');
    expect(setup.server.calls).toEqual([]);
  });

  it('that do not exist are named', async () => {
    await expect(conversationsFromJsonl('none.jsonl').load()).rejects.toThrow('The file none.jsonl cannot be read');
  });
});

describe('conversations', () => {
  it('come from any iterable, and are split by the seed', async () => {
    async function* generate() {
      for (let index = 0; index < 10; index++) yield talk(String(index), 'x');
    }
    const { train, test } = await conversationsFrom(generate(), { testSize: 3 }).load();
    const ids = (all: readonly Conversation[] | undefined) => all?.map(({ messages }) => Number(messages[0]?.content));
    expect([ids(test), ids(train)]).toEqual([
      [4, 6, 2],
      [7, 3, 5, 9, 0, 8, 1],
    ]);
  });

  const long = talk('a long question'.repeat(4), 'and its answer');
  const rows = [talk('q', 'a'), long, { messages: [{ role: 'user', content: 'only a question' }] }];

  it('that are too long are cut, dropped or refused, and the report says so', () => {
    const make = (tooLong: 'truncate' | 'drop' | 'refuse') => conversationDataset(rows, { renderer, batchSize: 1, maxLength: 40, tooLong });
    expect(make('truncate').report).toMatchObject({ rows: 3, truncatedRows: 1, droppedRows: 0, rowsWithoutTarget: 2 });
    expect(make('drop').report).toMatchObject({ rows: 2, truncatedRows: 0, droppedRows: 1, rowsWithoutTarget: 1 });
    expect(make('drop').dataset.batchCount(0)).toBe(2);
    expect(() => make('refuse')).toThrow(/conversations\[1\] has \d+ tokens, more than maxLength \(40\)/);
  });

  it('that are not trained on as they are make a warning each kind, before the first step', async () => {
    const warningsOf = async (name: string, options: { readonly maxLength: number; readonly tooLong?: 'drop' }) => {
      const warnings: string[] = [];
      const onWarning = (message: string) => warnings.push(message);
      const shared = {
        service: setup.connect(),
        model: 'tinkex/tiny',
        learningRate: 0.01,
        batchSize: 1,
        logPath: join(setup.folder, name),
      };
      await trainSupervised({ ...shared, ...options, data: conversationsFrom(rows), maxSteps: 1, onWarning });
      return warnings;
    };
    expect(await warningsOf('cut', { maxLength: 40 })).toEqual([
      '1 of 3 conversations are longer than maxLength (40); they are cut.',
      expect.stringMatching(/^2 of 3 conversations have no token to learn/),
    ]);
    expect(await warningsOf('dropped', { maxLength: 40, tooLong: 'drop' })).toEqual([
      '1 of 3 conversations are longer than maxLength (40); they are left out.',
      expect.stringMatching(/^1 of 3 conversations have no token to learn/),
    ]);
  });

  it('are rendered when their batch is due, in the order of the epoch', async () => {
    const { dataset, report } = conversationDataset(rows, { renderer, batchTokens: 60 });
    const epochs = await Promise.all(
      [0, 1].map(async (epoch) => {
        const batches = await Promise.all(Array.from({ length: dataset.batchCount(epoch) }, (_, index) => dataset.getBatch(epoch, index)));
        return batches.flat().map(({ modelInput }) => modelInput.length);
      }),
    );
    for (const lengths of epochs) expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(report.tokens);
    expect(epochs[0]).not.toEqual(epochs[1]);
  });
});

describe('Parquet files', () => {
  const fixture = (name: string): string => new URL(`./fixtures/${name}`, import.meta.url).pathname;

  it('of pyarrow are read with nested messages and tool calls, whatever their compression', async () => {
    const { train } = await conversationsFromParquet(fixture('chats-zstd.parquet'), { shuffleSeed: null }).load();
    expect(train.slice(0, 3).map(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`))).toEqual(
      [0, 1, 2].map((number) => ['system: Be brief.', `user: What is ${number} + ${number}?`, `assistant: ${2 * number}`]),
    );
    expect(train[3]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', toolCalls: [{ id: 'c1', function: { name: 'weather', arguments: '{"city": "Bern"}' } }] },
      { role: 'tool', content: 'rain', toolCallId: 'c1' },
      { role: 'assistant', content: 'It rains.' },
    ]);
    const split = await conversationsFromParquet(fixture('chats-zstd.parquet'), { testSize: 1 }).load();
    expect([split.train.length, split.test?.length]).toEqual([3, 1]);
  });

  it('report all bad rows with file and row, and a file that is not Parquet', async () => {
    const path = fixture('sharegpt-snappy.parquet');
    await expect(conversationsFromParquet([path, path]).load()).rejects.toMatchObject({
      issues: [{ path: `${path}:row 1` }, { path: `${path}:row 1` }],
    });
    const text = await file('chats.parquet', ['not a table']);
    await expect(conversationsFromParquet(text).load()).rejects.toThrow('chats.parquet cannot be read');
    await expect(conversationsFromParquet(join(setup.folder, 'none.parquet')).load()).rejects.toThrow('ENOENT');
  });
});
