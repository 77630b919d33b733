import type { Checkpoint, TrainingRun } from '@tinkex/types';
import { formatSize } from './format-size.js';
import { formatTime } from './format-time.js';
import type { Column } from './table.js';

/** `Rank 8`, `Yes` or `No`. */
export function loraText({ isLora, loraRank }: Pick<TrainingRun, 'isLora' | 'loraRank'>): string {
  if (!isLora) return 'No';
  return loraRank === undefined ? 'Yes' : `Rank ${loraRank}`;
}

/** `Yes (Rank 8)`, `Yes` or `No`. */
export function loraSentence({ isLora, loraRank }: Pick<TrainingRun, 'isLora' | 'loraRank'>): string {
  if (!isLora) return 'No';
  return loraRank === undefined ? 'Yes' : `Yes (Rank ${loraRank})`;
}

/** When a checkpoint expires. */
export function expiryText({ expiresAt }: Pick<Checkpoint, 'expiresAt'>, now: Date): string {
  return expiresAt === undefined ? 'Never' : formatTime(expiresAt, now);
}

/** The columns of a list of checkpoints. */
export function checkpointColumns(now: Date): Column<Checkpoint>[] {
  return [
    { header: 'Checkpoint ID', value: ({ checkpointId }) => checkpointId },
    { header: 'Type', value: ({ checkpointType }) => checkpointType },
    { header: 'Size', value: ({ sizeBytes }) => formatSize(sizeBytes), isRight: true },
    { header: 'Public', value: (checkpoint) => (checkpoint.public ? 'Yes' : 'No') },
    { header: 'Created', value: ({ time }) => formatTime(time, now) },
    { header: 'Expires', value: (checkpoint) => expiryText(checkpoint, now) },
    { header: 'Path', value: ({ tinkerPath }) => tinkerPath },
  ];
}
