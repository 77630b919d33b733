/** A small application and its tests: see the folder of the same name. */
import { runExample } from './shared/run-example.js';
import { openTarget } from './shared/target.js';
import { quoted } from './shared/terminal.js';
import { TitleWriter } from './testing-your-app/title-writer.js';

const EXAMPLES = [
  { text: 'Bees dance to tell where flowers are.', title: 'The waggle dance' },
  { text: 'Salt lowers the melting point of ice.', title: 'Why roads are salted' },
  { text: 'A cat always lands on its feet.', title: 'The righting reflex' },
];

await runExample({ about: 'Runs the application that apps/examples/src/testing-your-app tests.' }, async ({ signal }) => {
  await using target = await openTarget({ signal });
  console.log(`Training on ${target.description}`);
  const { service, baseModel, learningRate } = target;
  const writer = await TitleWriter.train(service, EXAMPLES, { baseModel, learningRate, steps: 20, isPatient: true });
  console.log(`Loss per token: ${writer.losses[0]?.toFixed(3)} → ${writer.losses.at(-1)?.toFixed(3)}\n`);
  for (const { text } of EXAMPLES) console.log(`  ${text}\n    → ${quoted((await writer.title(text)) ?? '')}`);
  console.log('\nRun its tests, with faults, rate limits and an unreliable network:\nnpm test -- examples testing-your-app');
});
