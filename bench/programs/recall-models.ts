/** The memory of many models in one engine, before and after each was trained for a step. */
import { learnEngine } from '@tinkex/testkit';
import { nextTokenDatum } from '@tinkex/types';
import { program } from '../measure/program.js';
import { collectGarbage } from '../measure/stopwatch.js';

await program(async ({ models, tokens }: { models: number; tokens: number }) => {
  const engine = learnEngine();
  collectGarbage();
  const before = process.memoryUsage.rss();
  const held = [];
  for (let index = 0; index < models; index += 1) {
    held.push(
      await engine.createModel({ baseModel: 'Qwen/Qwen3-8B', lora: { rank: 8, trainAttn: true, trainMlp: true, trainUnembed: true } }),
    );
  }
  collectGarbage();
  const created = process.memoryUsage.rss();
  for (const [index, model] of held.entries()) {
    const ids = Array.from({ length: tokens + 1 }, (_, place) => (place * 7_919 + index * 104_729) % 151_936);
    await model.forward({ data: [nextTokenDatum(ids)], lossFn: 'cross_entropy' }, { backward: true });
    await model.optimStep({ learningRate: 1e-2 });
  }
  collectGarbage();
  return { createdMegabytes: (created - before) / 1e6, residentMegabytes: (process.memoryUsage.rss() - before) / 1e6 };
});
