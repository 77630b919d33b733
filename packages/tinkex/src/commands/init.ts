import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { withPatientService } from '../config/connect.js';
import { EXAMPLE_CHATS, EXAMPLE_FILE } from '../config/example-chats.js';
import { CONFIG_FILES, schemaFile } from '../config/project.js';
import { startingConfig } from '../config/starting-config.js';
import { EMBEDDED_MODEL } from '../config/target.js';
import { CommandFailure } from '../output/command-failure.js';
import { counted } from '../output/format-time.js';
import { showJson } from '../output/show-result.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

interface InitOptions {
  readonly data?: string | undefined;
  readonly model?: string | undefined;
  readonly logPath: string;
  readonly yes?: boolean | undefined;
  readonly configFormat: string;
  readonly force?: boolean | undefined;
}

/** `tinkex init` */
export const register: RegisterCommand = (command, process) => {
  command
    .option('--data <file>', 'JSONL file of conversations; default: the one in this folder, else an example is written')
    .option('--model <name>', 'the base model; default: a question, or a model of the embedded engine')
    .option('--log-path <folder>', 'the run folder', 'runs/first')
    .option('--config-format <format>', 'ts or json', 'ts')
    .option('-y, --yes', 'ask nothing, take the defaults')
    .option('--force', 'replace a configuration that is there')
    .addHelpText('after', examples(['init', 'asks'], ['init --data chats.jsonl --yes', 'asks nothing']))
    .action(
      runWith<InitOptions>(process, async (context, options) => {
        const folder = globalThis.process.cwd();
        refuseExisting(folder, options);
        const data = await chooseData(context, options, folder);
        const { conversationsFromJsonl } = await import('@tinkex/cookbook');
        const { train } = await conversationsFromJsonl(join(folder, data)).load();
        const { model, isEmbedded } = await chooseModel(context, options);
        const config = startingConfig({ data, model, isEmbedded, rows: train.length, logPath: options.logPath });
        const file = await writeConfig(folder, config, options.configFormat);
        await ignoreState(folder);
        if (context.format === 'json') showJson(context, { config_file: file, ...config });
        else {
          context.terminal.print(
            `Wrote ${file}: ${counted(train.length, 'conversation')} for ${model}${isEmbedded ? ' (embedded engine)' : ''}.`,
          );
          context.terminal.note('Next: tinkex train sft');
        }
      }),
    );
};

function refuseExisting(folder: string, { force = false }: InitOptions): void {
  const existing = CONFIG_FILES.find((name) => existsSync(join(folder, name)));
  if (existing === undefined || force) return;
  throw new CommandFailure(`${existing} exists already`, { code: 'CONFIG_EXISTS', cure: 'Edit it, or pass --force to replace it.' });
}

async function chooseData(context: CommandContext, { data, yes = false }: InitOptions, folder: string): Promise<string> {
  if (data !== undefined) return relative(folder, join(folder, data)) || data;
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  if (files.length > 0 && (yes || files.length === 1 || !context.terminal.isInteractive)) return files[0] as string;
  if (files.length === 0) {
    await writeFile(join(folder, EXAMPLE_FILE), EXAMPLE_CHATS);
    context.terminal.note(`There is no JSONL file here, so ${EXAMPLE_FILE} has an example.`);
    return EXAMPLE_FILE;
  }
  const { isCancel, select } = await import('@clack/prompts');
  const options = files.map((name) => ({ value: name, label: name }));
  const answer = await select({
    message: 'Which file has the conversations?',
    options,
    signal: context.signal,
    output: context.streams.error,
  });
  if (isCancel(answer)) throw new CommandFailure('Nothing was written', { code: 'CANCELLED' });
  return answer;
}

/** Models that can be trained; the first of the embedded engine is the default there. */
async function chooseModel(context: CommandContext, { model, yes = false }: InitOptions): Promise<{ model: string; isEmbedded: boolean }> {
  return await withPatientService(context, {}, async (service, { isEmbedded }) => {
    const { supportedModels } = await service.getServerCapabilities({ signal: context.signal });
    const names = supportedModels.flatMap(({ modelName, trainable }) =>
      modelName === undefined || trainable === false ? [] : [modelName],
    );
    if (model !== undefined && !names.includes(model)) {
      throw new CommandFailure(`The server does not train ${model}`, { code: 'NO_MODEL', details: [`Models: ${names.join(', ')}`] });
    }
    const preferred = names.find((name) => name === EMBEDDED_MODEL) ?? names[0];
    if (preferred === undefined) throw new CommandFailure('The server has no model to train', { code: 'NO_MODEL' });
    if (model !== undefined || yes || isEmbedded || !context.terminal.isInteractive) return { model: model ?? preferred, isEmbedded };
    const { isCancel, select } = await import('@clack/prompts');
    const options = names.map((name) => ({ value: name, label: name }));
    const answer = await select({ message: 'Which model?', options, maxItems: 12, signal: context.signal, output: context.streams.error });
    if (isCancel(answer)) throw new CommandFailure('Nothing was written', { code: 'CANCELLED' });
    return { model: answer, isEmbedded };
  });
}

async function writeConfig(folder: string, config: object, format: string): Promise<string> {
  if (format === 'json') {
    const { jsonSchema } = await import('../config/config-schema.js');
    const schema = schemaFile({ root: folder });
    await mkdir(dirname(schema), { recursive: true });
    await writeFile(schema, `${JSON.stringify(jsonSchema(), null, 2)}\n`);
    const content = { $schema: `./${relative(folder, schema).replaceAll('\\', '/')}`, ...config };
    await writeFile(join(folder, 'tinkex.config.json'), `${JSON.stringify(content, null, 2)}\n`);
    return 'tinkex.config.json';
  }
  if (format !== 'ts') throw new CommandFailure(`There is no format "${format}"`, { code: 'WRONG_USAGE', cure: 'Choose ts or json.' });
  const fields = Object.entries(config).map(([name, value]) => `  ${name}: ${JSON.stringify(value).replaceAll('"', "'")},\n`);
  await writeFile(
    join(folder, 'tinkex.config.ts'),
    `import { defineConfig } from 'tinkex';\n\nexport default defineConfig({\n${fields.join('')}});\n`,
  );
  return 'tinkex.config.ts';
}

/** The state of the engine does not belong into a repository. */
async function ignoreState(folder: string): Promise<void> {
  if (!isInRepository(folder)) return;
  const file = join(folder, '.gitignore');
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  if (!/^\.tinkex\/?$/m.test(text)) await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}.tinkex/\n`);
}

function isInRepository(from: string): boolean {
  if (existsSync(join(from, '.git'))) return true;
  return dirname(from) !== from && isInRepository(dirname(from));
}
