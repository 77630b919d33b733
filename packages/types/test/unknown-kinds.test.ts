import { describe, expect, it } from 'vitest';
import { ValidationError } from '../src/index.js';
import { billingUsageResponse, checkpointsListResponse, trainingRunsResponse } from '../src/wire.js';

const external = {
  checkpoint_id: 'external_weights/a',
  checkpoint_type: 'external',
  time: '2026-11-18T00:00:00Z',
  tinker_path: 'tinker://r/external_weights/a',
};
const unknown = { ...external, checkpoint_id: 'merged/a', checkpoint_type: 'merged', tinker_path: 'tinker://r/merged/a' };
const hour = { bucket_start: '2026-11-18T00:00:00Z', bucket_end: '2026-11-18T01:00:00Z' };

describe('kinds that this version does not know', () => {
  it('keeps a checkpoint of an unknown kind, and the list around it', () => {
    const list = checkpointsListResponse.decode({ checkpoints: [external, unknown] });
    expect(list.checkpoints.map(({ checkpointType }) => checkpointType)).toEqual(['external', 'merged']);
    expect(list.checkpoints[1]).toMatchObject({ checkpointId: 'merged/a', tinkerPath: 'tinker://r/merged/a' });
    expect(checkpointsListResponse.encode(list)).toMatchObject({ checkpoints: [external, unknown] });
  });

  it('keeps a run whose last checkpoint is of an unknown kind', () => {
    const run = {
      training_run_id: 'r',
      base_model: 'b',
      model_owner: 'o',
      is_lora: true,
      last_request_time: '2026-11-18T00:00:00Z',
      last_checkpoint: unknown,
    };
    const { trainingRuns } = trainingRunsResponse.decode({ training_runs: [run], cursor: { offset: 0, limit: 1, total_count: 1 } });
    expect(trainingRuns[0]?.lastCheckpoint?.checkpointType).toBe('merged');
  });

  it('keeps usage of an unknown kind as it is, whether or not it names its kind', () => {
    const data = [
      { ...hour, event_info: { type: 'reranking', calls: 3 } },
      { ...hour, event_info: { calls: 3 } },
      { ...hour, event_info: { type: 'constructor' } },
      { ...hour, event_info: { cached: true, token_count: 4 } },
    ];
    const bill = billingUsageResponse.decode({ data });
    expect(bill.data.map(({ eventInfo }) => eventInfo)).toEqual([
      { type: 'other', raw: { type: 'reranking', calls: 3 } },
      { type: 'other', raw: { calls: 3 } },
      { type: 'other', raw: { type: 'constructor' } },
      { type: 'sampling_prefill', cached: true, tokenCount: 4 },
    ]);
    expect(billingUsageResponse.decode(billingUsageResponse.encode(bill))).toEqual(bill);
  });

  it('still refuses a kind that is not text, and a known kind with wrong fields', () => {
    expect(() => checkpointsListResponse.decode({ checkpoints: [{ ...external, checkpoint_type: 7 }] })).toThrow(ValidationError);
    expect(() => billingUsageResponse.decode({ data: [{ ...hour, event_info: { type: 'training' } }] })).toThrow(/event_info\.token_count/);
  });
});
