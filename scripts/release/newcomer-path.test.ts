import { expect, it } from 'vitest';
import { newcomerPath } from './newcomer-path.js';

it('takes the commands and the program out of the page, without comments', () => {
  const { repository, commandLine, project, program } = newcomerPath();
  expect(repository).toEqual([expect.stringMatching(/^git clone \S+ && cd \S+$/), 'npm start', 'npm test']);
  expect(commandLine.map((line) => line.replace(/^npx --yes /, ''))).toEqual(['tinkex init', 'tinkex train sft', 'tinkex chat']);
  expect(project[0]).toBe('npm init --yes');
  expect(project.at(-1)).toBe('npx tsx first.mts');
  expect(program).toContain("from '@tinkex/clients'");
});

it('says what a page lacks', () => {
  expect(() => newcomerPath('```sh\nnpm start\n```\n')).toThrow('no program');
  expect(() => newcomerPath('```sh\nnpm start\n```\n```ts\n1\n```\n')).toThrow('no block of commands with "git clone"');
});
