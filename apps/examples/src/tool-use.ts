/** An agent with two tools: it learns to look a price up before it pays, over several turns. */
import { envTool, toolEnvGroup, trainRl } from '@tinkex/cookbook';
import type { Message } from '@tinkex/renderers';
import { z } from 'zod';
import { openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';

const PRICES: Readonly<Record<string, number>> = { bread: 3, milk: 4, tea: 7, jam: 9 };
const look = envTool({ name: 'price', parameters: z.object({ item: z.string() }), run: ({ item }) => String(PRICES[item]) });
const amount = z.object({ amount: z.int() });
const pay = envTool({ name: 'pay', parameters: amount, run: () => ({ content: 'paid', shouldStop: true }) });
const order = (item: string): Message => ({ role: 'user', content: `Buy ${item}.` });
const priceTag = (price: number): Message => ({ role: 'tool', name: 'price', content: String(price) });

const program = {
  about: 'Teaches an agent with two tools to look a price up before it pays.',
  options: { steps: { default: '10', help: 'rounds of playing and training' } },
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, flags, count }) => {
  const totalSteps = count('steps');
  const shown = { name: 'tool-use', metric: 'env/all/reward/total', label: 'reward', totalSteps };
  await using recipe = await openRecipe({ ...shown, signal, flags, embeddedModel: 'tinkex/small', hasTurns: true, untrainedRate: 0.01 });

  // A chat model calls tools. The embedded one learns to, from buyers of whom every second one looks the price up.
  const tools = [look.spec, pay.spec];
  const purchases = Object.entries(PRICES).flatMap(([item, price]) => [
    { tools, messages: [order(item), call('price', { item }), priceTag(price), call('pay', { amount: price })] },
    { tools, messages: [order(item), call('pay', { amount: (price % 9) + 1 })] },
  ]);
  const start = await recipe.prepare('purchases', purchases, 40);

  const run = await trainRl({
    ...recipe.options,
    loadCheckpointPath: start?.statePath,
    dataset: Object.entries(PRICES).map(([item, price]) =>
      toolEnvGroup({ messages: [order(item)], tools: [look, pay], maxTurns: 3, reward: (said) => Number(paidIn(said) === price) }),
    ),
    groupsPerBatch: 4,
    groupSize: 16,
    numEpochs: totalSteps,
    maxTokens: 100,
  });
  if (await recipe.conclude(run)) console.log(`Turns per purchase: ${run.metrics['env/all/turns_per_episode']?.toFixed(2)}`);
});

function paidIn(history: readonly Message[]): number | undefined {
  const paid = history.flatMap(({ toolCalls = [] }) => toolCalls).find((each) => each.function.name === 'pay');
  return paid && amount.safeParse(JSON.parse(paid.function.arguments)).data?.amount;
}

function call(name: string, args: object): Message {
  return { role: 'assistant', content: '', toolCalls: [{ type: 'function', function: { name, arguments: JSON.stringify(args) } }] };
}
