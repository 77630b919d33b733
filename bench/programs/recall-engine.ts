/** How fast the engine behind `tinkex/small` and every large model trains on prose: passes and optimizer steps, each with text that is new to the model. */
import { readFileSync } from 'node:fs';
import { learnEngine } from '@tinkex/testkit';
import { type Datum, nextTokenDatum } from '@tinkex/types';
import { program } from '../measure/program.js';
import { median } from '../measure/statistics.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly baseModel: string;
  /** UTF-8 text. */
  readonly file: string;
  /** Per step. */
  readonly datums: number;
  /** Per datum; all are trained. */
  readonly tokens: number;
}

const ROUNDS = 9;
const WARM_UP_ROUNDS = 6;

await program(async ({ baseModel, file, datums, tokens }: Task) => {
  const text = [...readFileSync(file)];
  const engine = learnEngine();
  const model = await engine.createModel({
    baseModel,
    lora: { rank: 8, trainAttn: true, trainMlp: true, trainUnembed: true },
  });
  let place = 0;
  const next = (): Datum => {
    if (place + tokens >= text.length) throw new Error('The text is too short.');
    place += tokens;
    return nextTokenDatum(text.slice(place - tokens, place + 1));
  };
  const times: number[] = [];
  let loss = 0;
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    const data = Array.from({ length: datums }, next);
    const stop = stopwatch();
    const { metrics } = await model.forward({ data, lossFn: 'cross_entropy' }, { backward: true });
    await model.optimStep({ learningRate: 1e-2 });
    if (round >= 0) times.push(stop().cpuMs / 1_000);
    loss = (metrics['loss:sum'] as number) / (datums * tokens);
  }
  return { tokensPerCpuSecond: (datums * tokens) / median(times), loss };
});
