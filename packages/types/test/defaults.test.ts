import { expect, it } from 'vitest';
import { resolveLoraConfig } from '../src/wire.js';

it('resolveLoraConfig fills in what is undefined', () => {
  const config = resolveLoraConfig({ rank: undefined as never, trainMlp: false });
  expect(config).toEqual({ rank: 32, trainUnembed: true, trainMlp: false, trainAttn: true });
});
