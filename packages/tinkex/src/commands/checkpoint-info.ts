import { withRest } from '../config/connect.js';
import { CommandFailure } from '../output/command-failure.js';
import { expiryText, loraSentence } from '../output/describe-objects.js';
import { formatSize } from '../output/format-size.js';
import { formatTime } from '../output/format-time.js';
import { checkpointJson } from '../output/json-shapes.js';
import { showRecord } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex checkpoint info` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('info')
    .argument('<path>', 'tinker://… of a checkpoint')
    .description('Show one checkpoint.')
    .addHelpText('after', examples(['checkpoint info tinker://0bd9d4f8:train:0/weights/final', 'its size, age and run']))
    .action(
      runWith(process, async (context, _options, [path = '']) => {
        const { parseCheckpointPath } = await import('@tinkex/types');
        const { trainingRunId } = parseCheckpointPath(path);
        const { checkpoint, run } = await withRest(context, async (rest) => {
          const { checkpoints } = await rest.listCheckpoints(trainingRunId, { signal: context.signal });
          const found = checkpoints.find(({ tinkerPath }) => tinkerPath === path);
          if (found === undefined) {
            throw new CommandFailure(`There is no checkpoint ${path}`, {
              code: 'NO_CHECKPOINT',
              cure: `\`tinkex checkpoint list --run-id ${trainingRunId}\` shows those of its run.`,
            });
          }
          return { checkpoint: found, run: await rest.getTrainingRun(trainingRunId, { signal: context.signal }) };
        });
        const now = context.now();
        await showRecord(context, {
          title: `Checkpoint: ${checkpoint.checkpointId}`,
          properties: [
            ['Checkpoint ID', checkpoint.checkpointId],
            ['Type', checkpoint.checkpointType],
            ['Tinker Path', checkpoint.tinkerPath],
            ...(checkpoint.sizeBytes === undefined ? [] : [['Size', formatSize(checkpoint.sizeBytes)] as const]),
            ['Public', checkpoint.public ? 'Yes' : 'No'],
            ['Created', formatTime(checkpoint.time, now)],
            ['Expires', expiryText(checkpoint, now)],
            ['Training Run ID', trainingRunId],
            ['LoRA', loraSentence(run)],
          ],
          json: { ...checkpointJson(checkpoint), is_lora: run.isLora, lora_rank: run.loraRank ?? null },
        });
      }),
    );
};
