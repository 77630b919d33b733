import { after, before, type Recipe } from '../recipe.js';
import { changeset } from './changeset.js';

/** `close-headers`: half of the headers, then an orderly end. */
export const addFault: Recipe = {
  page: 'add-fault',
  edits: [
    before(
      'packages/testkit/src/faults/faults.ts',
      '  /** A reset in the middle of the status line',
      "  /** An orderly end in the middle of the status line and headers. */\n  'close-headers': () => ({ head: 'half', end: 'close' }),\n",
    ),
    before(
      'packages/testkit/test/faults.test.ts',
      "  rawTest('truncate ends early",
      `  rawTest('close-headers ends in the headers', async ({ server }) => {
    server.on('getServerCapabilities').fault('close-headers', { moment: 'after' }).once();
    const { text, end } = await rawExchange(server);
    expect(end).toBe('end');
    expect(text).not.toContain('\\r\\n\\r\\n');
  });

`,
    ),
    after('docs/guides/testing.md', '| `reset-headers`,', ' `close-headers`,'),
    changeset("The testkit can end a connection in the middle of the headers: `fault('close-headers')`.", 'testkit'),
  ],
  typecheck: ['testkit', 'clients'],
  tests: { testkit: ['src/faults/faults.test.ts', 'test/faults.test.ts'] },
};
