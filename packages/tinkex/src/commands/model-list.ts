import { withService } from '../config/connect.js';
import { CommandFailure } from '../output/command-failure.js';
import { counted } from '../output/format-time.js';
import { modelJson } from '../output/json-shapes.js';
import { showList } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex model list` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('list')
    .argument('[substring]', 'only models whose name contains it, in any case')
    .description('List the models that you can train and sample.')
    .option('--csv [file]', 'write CSV to a file, or to stdout')
    .addHelpText('after', examples(['model list qwen', 'models with "qwen" in their name'], ['model list --json', 'for programs']))
    .action(
      runWith(process, async (context, _options, [substring]) => {
        const { supportedModels } = await withService(context, (service) => service.getServerCapabilities({ signal: context.signal }));
        const wanted = substring?.toLowerCase() ?? '';
        const models = supportedModels.filter(({ modelName = '' }) => modelName.toLowerCase().includes(wanted));
        if (models.length === 0 && substring !== undefined) {
          const names = supportedModels.flatMap(({ modelName }) => modelName ?? []);
          throw new CommandFailure(`No model that your organization can use contains "${substring}"`, {
            code: 'NO_MODEL',
            details: [`Models: ${names.join(', ') || 'none'}`],
          });
        }
        await showList(context, {
          title: counted(models.length, 'model'),
          columns: [
            { header: 'Model', value: ({ modelName }) => modelName ?? 'N/A' },
            { header: 'Max Context', value: ({ maxContextLength }) => maxContextLength?.toLocaleString('en-US') ?? 'N/A', isRight: true },
            { header: 'Trainable', value: ({ trainable }) => yesNo(trainable) },
            { header: 'Sampleable', value: ({ sampleable }) => yesNo(sampleable) },
          ],
          rows: models,
          json: { models: models.map(modelJson) },
          csv: modelJson,
        });
      }),
    );
};

function yesNo(value: boolean | undefined): string {
  if (value === undefined) return 'N/A';
  return value ? 'Yes' : 'No';
}
