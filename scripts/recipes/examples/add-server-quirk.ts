import { after, before, type Recipe } from '../recipe.js';
import { changeset } from './changeset.js';

/** A server that calls the maximal context length `context_window`. */
export const addServerQuirk: Recipe = {
  page: 'add-server-quirk',
  edits: [
    {
      file: 'packages/types/src/wire/service.ts',
      find: '  maxContextLength: optional(integer()),',
      replace: "  maxContextLength: optional(integer(), { aliases: ['context_window'] }),",
    },
    before(
      'packages/types/test/other-servers.test.ts',
      "  it('finds the name of a model under model_id'",
      `  it('finds the context length under context_window', () => {
    const { supportedModels } = getServerCapabilitiesResponse.decode({ supported_models: [{ model_name: 'a', context_window: 8 }] });
    expect(supportedModels).toEqual([{ modelName: 'a', maxContextLength: 8 }]);
  });

`,
    ),
    after(
      'packages/testkit/src/dialects/dialect.ts',
      "  readonly modelNameKey: 'model_name' | 'model_id';\n",
      "  /** The key of the context length in capabilities. */\n  readonly contextLengthKey: 'max_context_length' | 'context_window';\n",
    ),
    after('packages/testkit/src/dialects/dialect.ts', "  modelNameKey: 'model_name',\n", "  contextLengthKey: 'max_context_length',\n"),
    after('packages/testkit/src/dialects/presets.ts', "  name: 'hatchery',\n", "  contextLengthKey: 'context_window',\n"),
    {
      file: 'packages/testkit/src/handlers/service.ts',
      find: 'const { modelNameKey, hasModelDetails } = server.dialect;',
      replace: 'const { modelNameKey, contextLengthKey, hasModelDetails } = server.dialect;',
    },
    {
      file: 'packages/testkit/src/handlers/service.ts',
      find: '{ max_context_length: maxContextLength,',
      replace: '{ [contextLengthKey]: maxContextLength,',
    },
    before(
      'packages/testkit/test/dialects.test.ts',
      "  it('keys are of one prefix",
      `  it('the context length has two names', async () => {
    await withDialect('hatchery', async (client) => {
      const { json } = await client.get('get_server_capabilities');
      expect(Object.keys(json.supported_models[0])).toContain('context_window');
    });
  });

`,
    ),
    before(
      'docs/guides/self-hosted.md',
      '| REST routes that do not exist',
      '| `context_window` instead of `max_context_length` | read as the context length |\n',
    ),
    changeset('Servers that name the context length `context_window` are understood.', 'types', 'testkit'),
  ],
  typecheck: ['types', 'testkit', 'clients'],
  tests: { types: ['test/other-servers.test.ts'], testkit: ['test/dialects.test.ts'] },
};
