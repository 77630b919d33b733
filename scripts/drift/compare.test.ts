import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { comparePictures, describeChange, type Picture } from './compare.js';

const pictureOf = async (version: string): Promise<Picture> =>
  JSON.parse(await readFile(join(import.meta.dirname, 'pictures', `${version}.json`), 'utf8'));

it('finds added, removed and changed parts, and nothing between equal pictures', () => {
  const before: Picture = { endpoints: ['GET /a', 'GET /b'], models: { Sample: { fields: { seed: 'int', stop: 'str' } } } };
  const after: Picture = { endpoints: ['GET /b', 'POST /c'], models: { Sample: { fields: { seed: 'int | None', top_k: 'int = -1' } } } };
  expect(comparePictures(before, after).map(describeChange)).toEqual([
    '- endpoints GET /a',
    '+ endpoints POST /c',
    '~ models Sample fields seed: int -> int | None',
    '- models Sample fields stop: str',
    '+ models Sample fields top_k: int = -1',
  ]);
  expect(comparePictures(after, after)).toEqual([]);
});

it('shows what the change list of 0.36.0 says about endpoints, flags, messages and signatures', async () => {
  const changes = comparePictures(await pictureOf('0.25.0'), await pictureOf('0.36.0')).map(describeChange);
  expect(changes).toEqual(
    expect.arrayContaining([
      '+ endpoints POST /api/v1/cancel_future',
      '+ endpoints POST /api/v1/retrieve_futures',
      '+ endpoints POST /api/v1/sessions/{}/finish',
      '- endpoints GET /api/v1/training_runs/{}/checkpoints/{}/archive',
      '+ flags ClientConfigResponse fields sample_use_retrieve_futures: bool = False',
      '+ flags ClientDynamicConfigResponse fields sample_cancel_max_batch_size: int = 64',
      '+ protobuf ForwardBackwardRequest 7: repeated LossFnConfigV2Entry loss_fn_config_v2',
      '~ signatures TrainingClient.optim_step: (adam_params) -> (optim_params=None, *, adam_params=None)',
      "~ aliases CheckpointType: Literal['training', 'sampler'] -> Literal['training', 'sampler', 'external']",
    ]),
  );
});
