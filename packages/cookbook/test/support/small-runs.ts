import type { ServiceClient } from '@tinkex/clients';
import { type BatchDataset, type PreferencePair, type TrainingRun, trainDpo, trainRl, trainSupervised } from '@tinkex/cookbook';
import { recordedData, recordedSft, rowDatum } from './recorded-sft.js';
import { vowelGroups } from './vowel-groups.js';

/** The loops that continue bit for bit. */
export const LOOPS = ['sft', 'rl', 'dpo'] as const;
/** The other forms of RL. A run that plays ahead continues with younger samples than it would have had. */
export const RL_FORMS = { 'rl-streaming': { numMinibatches: 2 }, 'rl-async': { maxStepsOffPolicy: 2 } } as const;
export type Loop = (typeof LOOPS)[number] | keyof typeof RL_FORMS;

const recorded = recordedSft('sft');
const SETTINGS = { model: 'tinkex/tiny', learningRate: 0.02, loraRank: 8, evalEvery: 0, saveEvery: 2 } as const;

/** A short run of a loop, the same in every process. */
export function trainSmall(loop: Loop, service: ServiceClient, logPath: string): Promise<TrainingRun> {
  const shared = { ...SETTINGS, service, logPath };
  if (loop === 'sft') return trainSupervised({ ...shared, data: recordedData(recorded), numEpochs: 2 });
  const rl = { ...shared, dataset: vowelGroups(8), groupsPerBatch: 2, groupSize: 2, maxTokens: 4 };
  if (loop === 'rl') return trainRl(rl);
  if (loop !== 'dpo') return trainRl({ ...rl, ...RL_FORMS[loop] });
  const data: BatchDataset<PreferencePair> = {
    batchCount: () => 4,
    getBatch: (epoch, index) => {
      const row = recorded.rows[(epoch + index) % recorded.rows.length] as string;
      return [{ chosen: rowDatum(row), rejected: rowDatum(`${row.slice(0, -1)}x`) }];
    },
  };
  return trainDpo({ ...shared, data, numEpochs: 2 });
}
