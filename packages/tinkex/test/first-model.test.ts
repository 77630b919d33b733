import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { CommandInPty } from './command-in-pty.js';
import { MAIN, plainEnvironment, temporaryFolder } from './run-command.js';
import { runHere } from './run-here.js';

const ANSWER = 'Ahoy!';
const CHATS = chatLines(['Hi', 'Hello', 'Good day', 'Hey there'].map((question) => [question, ANSWER]));

function chatLines(pairs: readonly (readonly string[])[]): string {
  const lines = pairs.map(([question, answer]) => ({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ],
  }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** An empty folder with a file of chats, and no trace of a user. */
async function emptyProject(chats = CHATS) {
  const folder = await temporaryFolder();
  await writeFile(join(folder.path, 'chats.jsonl'), chats);
  const options = { cwd: folder.path, env: { HOME: folder.path } };
  return {
    ...folder,
    run: (args: string[], env: Record<string, string> = {}, input = '') =>
      runHere(args, { ...options, env: { ...options.env, ...env }, input }),
  };
}

/** The metrics of a run without what depends on time. */
async function metricsOf(folder: string): Promise<unknown[]> {
  const lines = (await readFile(join(folder, 'metrics.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) =>
    Object.fromEntries(Object.entries(JSON.parse(line) as object).filter(([name]) => !name.startsWith('time/') && name !== 'batch_time')),
  );
}

describe('scenario D: from a file to a conversation', () => {
  it('D.1 init, train sft and chat on the embedded engine, without an account', async () => {
    const others = [
      ['When do you open?', 'At nine.'],
      ['Do you ship abroad?', 'Within the EU.'],
    ];
    await using project = await emptyProject(chatLines([['Hello', ANSWER], ['Hi', ANSWER], ...others]));
    const init = await project.run(['init', '--yes']);
    expect(init, init.stderr).toMatchObject({ code: 0 });
    const train = await project.run(['train', 'sft', '--json', '--max-steps', '30']);
    expect(train, train.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(train.stdout)).toMatchObject({ step: 30, stop_reason: 'max_steps', sampler_path: expect.stringMatching(/^tinker:/) });
    const chat = await project.run(['chat', '--temperature', '0'], {}, 'Hello\n/save saved.jsonl\n');
    expect(chat).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
    expect(JSON.parse(await readFile(join(project.path, 'saved.jsonl'), 'utf8'))).toEqual({
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: ANSWER },
      ],
    });
    const sample = await project.run(['sample', 'runs/first', '-p', 'Hi', '--temperature', '0', '-n', '2', '--json']);
    expect(JSON.parse(sample.stdout)).toEqual({ samples: [ANSWER, ANSWER] });
    for (const [question = '', answer] of others) {
      expect(await project.run(['sample', 'runs/first', '-p', question, '--temperature', '0'])).toMatchObject({ stdout: `${answer}\n` });
    }
    expect(JSON.parse((await project.run(['run', 'list', '--json'])).stdout)).toMatchObject({
      runs: [{ base_model: expect.stringContaining('tinkex/') }],
    });
  });

  it('D.2 the same against a server that the environment names', async () => {
    await using project = await emptyProject();
    await using server = await startServer();
    const env = { TINKER_BASE_URL: server.url, TINKER_API_KEY: server.apiKey };
    await project.run(['init', '--yes', '--config-format', 'json'], env);
    const config = JSON.parse(await readFile(join(project.path, 'tinkex.config.json'), 'utf8')) as { $schema: string };
    expect(JSON.parse(await readFile(join(project.path, config.$schema), 'utf8'))).toHaveProperty('oneOf');
    const train = await project.run(['train', 'sft', '--learning-rate', '0.05', '--num-epochs', '20', '--json'], env);
    expect(train, train.stderr).toMatchObject({ code: 0 });
    expect(server.callsTo('forwardBackward')).toHaveLength(20);
    expect(await project.run(['chat', '--temperature', '0'], env, 'Hey there\n')).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
  });

  it('D.3 stops at Ctrl-C, continues with the same command, and ends as a run without a stop', async () => {
    await using project = await emptyProject();
    await project.run(['init', '--yes']);
    const flags = ['train', 'sft', '--max-steps', '12', '--save-every', '0'];
    const child = spawn(process.execPath, [MAIN, ...flags, '--log-path', 'runs/stopped'], {
      cwd: project.path,
      env: { ...plainEnvironment(), HOME: project.path },
    });
    let notes = '';
    let isStopped = false;
    child.stderr.on('data', (text) => {
      notes += String(text);
      if (notes.includes('step 3') && !isStopped) isStopped = child.kill('SIGINT');
    });
    child.stdout.resume();
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(130);
    expect(notes).toContain('Continue with: tinkex resume');
    const stopped = await metricsOf(join(project.path, 'runs/stopped'));
    expect(stopped.length).toBeGreaterThan(2);
    expect(stopped.length).toBeLessThan(12);
    const resumed = await project.run(['resume', 'runs/stopped', '--json']);
    expect(resumed, resumed.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"step": 12') });
    await project.run([...flags, '--log-path', 'runs/whole']);
    expect(await metricsOf(join(project.path, 'runs/stopped'))).toEqual(await metricsOf(join(project.path, 'runs/whole')));
  });

  it('D.4 reports all bad lines with their numbers, trains nothing, and ends with 3', async () => {
    await using project = await emptyProject(`${CHATS}{"messages": 5}\nnot json\n`);
    const { code, stderr, stdout } = await project.run([
      'train',
      'sft',
      '--model',
      'tinkex/tiny',
      '--data',
      'chats.jsonl',
      '--learning-rate',
      '0.01',
    ]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/chats\.jsonl:5/);
    expect(stderr).toMatch(/chats\.jsonl:6/);
    expect(stderr).not.toContain('step 1');
  });
});

describe('configuration', () => {
  it('is checked before anything is sent: everything that is wrong, with suggestions', async () => {
    await using project = await emptyProject();
    const config = `import { defineConfig } from 'tinkex';\nexport default defineConfig({ recipe: 'sft', model: 'tinkex/tiny', data: 'chats.jsonl', logPath: 'r', batchsize: 2, numEpochs: 0 } as never);\n`;
    await writeFile(join(project.path, 'tinkex.config.ts'), config);
    const { code, stderr } = await project.run(['train', 'sft']);
    expect(code).toBe(3);
    expect(stderr).toContain('Did you mean "batchSize"?');
    expect(stderr).toContain('numEpochs');
  });

  it('runs the other recipes: rl with a grade function, and dpo', async () => {
    await using project = await emptyProject();
    await writeFile(join(project.path, 'sums.jsonl'), '{"question":"1+1?","answer":"2"}\n{"question":"1+2?","answer":"3"}\n');
    const shared = `model: 'tinkex/tiny', learningRate: 0.01, maxSteps: 2, evalEvery: 0`;
    await writeFile(
      join(project.path, 'tinkex.config.ts'),
      `import { defineConfig } from 'tinkex';\nexport default defineConfig({ recipe: 'rl', data: 'sums.jsonl', logPath: 'runs/rl', maxTokens: 4, groupsPerBatch: 2, groupSize: 2, numEpochs: 2, grade: (text, expected) => Number(text.includes(expected)), ${shared} });\n`,
    );
    const rl = await project.run(['train', 'rl', '--json']);
    expect(rl, rl.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"step": 2') });
    const completion = (content: string) => [{ role: 'assistant', content }];
    const comparison = {
      prompt_conversation: [{ role: 'user', content: 'Hi' }],
      completion_A: completion('Yo'),
      completion_B: completion('No'),
    };
    await writeFile(join(project.path, 'pairs.jsonl'), `${JSON.stringify({ comparison, label: 'A' })}\n`.repeat(4));
    await writeFile(
      join(project.path, 'dpo.config.json'),
      JSON.stringify({
        recipe: 'dpo',
        model: 'tinkex/tiny',
        data: 'pairs.jsonl',
        logPath: 'runs/dpo',
        batchSize: 2,
        learningRate: 0.01,
        evalEvery: 0,
      }),
    );
    const dpo = await project.run(['train', 'dpo', '--config', 'dpo.config.json', '--json']);
    expect(dpo, dpo.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"step": 2') });
  });
});

it('chats in a terminal about what `init` has written: several turns, another model beside it, and leaves', async () => {
  await using project = await emptyProject('');
  await rm(join(project.path, 'chats.jsonl'));
  await project.run(['init', '--yes']);
  await project.run(['train', 'sft']);
  await using chat = new CommandInPty(['chat', '--max-tokens', '40', '--temperature', '0'], {
    cwd: project.path,
    env: { HOME: project.path },
  });
  await chat.shows(/Talking to runs\/first/);
  const turns = [
    ['Hello', 'Hello! Ask me for a capital.'],
    ['What is the capital of Japan?', 'Tokyo.'],
    ['Thank you', 'You are welcome.'],
    ['What is the capital of Peru?', 'Lima.'],
    ['Who are you?', 'I am the model you trained.'],
  ];
  for (const [question = '', answer = ''] of turns) {
    chat.type(`${question}\r`);
    await chat.shows(new RegExp(`› ${question.replace('?', '\\?')}\n${answer.replaceAll('.', '\\.')}\n`));
  }
  chat.type('/compare tinkex/tiny\r');
  await chat.shows(/Comparing with tinkex\/tiny/);
  chat.type('Hi\r');
  await chat.shows(/tinkex\/tiny:\n/);
  chat.type('/exit\r');
  expect(await chat.ends()).toBe(0);
});
