import type { Checkpoint, TrainingRun } from '@tinkex/clients';
import { withRest } from '../config/connect.js';
import { COST_PERIOD, costJson, costText, type RunCost, readSessionCosts } from '../config/run-cost.js';
import { loraSentence } from '../output/describe-objects.js';
import { formatTime } from '../output/format-time.js';
import { runJson } from '../output/json-shapes.js';
import { showRecord } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex run info` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('info')
    .argument('<run-id>', 'such as 0bd9…:train:0')
    .description('Show one training run.')
    .option('--cost', 'also what its session cost, by the prices of your configuration, else as the server estimates')
    .addHelpText(
      'after',
      examples(
        ['run info 0bd9d4f8:train:0', 'its model, checkpoints and metadata'],
        ['run info 0bd9d4f8:train:0 --cost', 'and what it cost'],
      ),
    )
    .action(
      runWith<{ readonly cost?: boolean }>(process, async (context, { cost: hasCost = false }, [runId = '']) => {
        const run = await withRest(context, (rest) => rest.getTrainingRun(runId, { signal: context.signal }));
        const cost = hasCost ? (await readSessionCosts(context))(runId) : undefined;
        await showRecord(context, {
          title: `Training Run: ${run.trainingRunId}`,
          properties: [...propertiesOf(run, context.now()), ...(hasCost ? costProperties(cost) : [])],
          json: { ...runJson(run), ...(hasCost ? costJson(cost) : {}) },
        });
      }),
    );
};

function costProperties(cost: RunCost | undefined): [string, string][] {
  const count = (tokens = 0): string => tokens.toLocaleString('en-US');
  return [
    [`Cost, ${COST_PERIOD}`, costText(cost)],
    ['  - Trained Tokens', count(cost?.trainTokens)],
    ['  - Prompt Tokens', count(cost?.prefillTokens)],
    ['  - Sampled Tokens', count(cost?.sampledTokens)],
  ];
}

function propertiesOf(run: TrainingRun, now: Date): [string, string][] {
  return [
    ['Run ID', run.trainingRunId],
    ['Base Model', run.baseModel],
    ['Owner', run.modelOwner],
    ['LoRA', loraSentence(run)],
    ['Last Update', formatTime(run.lastRequestTime, now)],
    ['Status', run.corrupted ? 'Failed' : 'OK'],
    ...checkpointProperties('Last Training Checkpoint', run.lastCheckpoint, now),
    ...checkpointProperties('Last Sampler Checkpoint', run.lastSamplerCheckpoint, now),
    ...metadataProperties(run.userMetadata),
  ];
}

function checkpointProperties(label: string, checkpoint: Checkpoint | undefined, now: Date): [string, string][] {
  if (checkpoint === undefined) return [];
  return [
    [label, checkpoint.checkpointId],
    ['  - Time', formatTime(checkpoint.time, now)],
    ['  - Path', checkpoint.tinkerPath],
  ];
}

function metadataProperties(metadata: Readonly<Record<string, string>> = {}): [string, string][] {
  const pairs = Object.entries(metadata).map(([name, value]): [string, string] => [`  - ${name}`, value]);
  return pairs.length === 0 ? [] : [['Metadata', ''], ...pairs];
}
