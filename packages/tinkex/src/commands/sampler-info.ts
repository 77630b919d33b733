import { withRest } from '../config/connect.js';
import { samplerJson } from '../output/json-shapes.js';
import { showRecord } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex sampler info` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('info')
    .argument('<sampler-id>', 'as `tinkex session info` shows it')
    .description('Show one sampler: its base model and weights.')
    .addHelpText('after', examples(['sampler info 0bd9d4f8:sample:0', 'what it samples from']))
    .action(
      runWith(process, async (context, _options, [samplerId = '']) => {
        const sampler = await withRest(context, (rest) => rest.getSampler(samplerId, { signal: context.signal }));
        await showRecord(context, {
          title: `Sampler: ${sampler.samplerId}`,
          properties: [
            ['Sampler ID', sampler.samplerId],
            ['Base Model', sampler.baseModel],
            ['Weights', sampler.modelPath ?? 'the base model'],
          ],
          json: samplerJson(sampler),
        });
      }),
    );
};
