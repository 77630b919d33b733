/** Train an agent you already have: it talks to the official `openai` package, the gateway captures what it does, and its reward rises. */
import { assembleData, computeAdvantages, trajectoriesFromCapture } from '@tinkex/cookbook';
import { type CapturedExchange, EPISODE_HEADER, startGateway } from '@tinkex/gateway';
import { getRecommendedRendererName, getRenderer, toRendererTokenizer } from '@tinkex/renderers';
import OpenAI from 'openai';
import { LiveCurve } from './shared/live-curve.js';
import { runExample } from './shared/run-example.js';
import { openTarget } from './shared/target.js';
import { quoted } from './shared/terminal.js';

const THEMES = ['the sea', 'a storm', 'old shoes', 'the moon'];
const UNSEEN_THEMES = ['a train', 'the first snow', 'bread', 'my cat', 'two rivers', 'the night bus', 'a red kite', 'silence'];
const EPISODES_PER_THEME = 8;
const LINE_TOKENS = 12;

/** The agent: an ordinary program that knows OpenAI's API and nothing of training. It writes a song, asking for one line after the other. */
async function writeSong(openai: OpenAI, theme: string, seed: number, headers: Record<string, string> = {}): Promise<string[]> {
  const lines: string[] = [];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: `Sing of ${theme}.` }];
  while (lines.length < 2) {
    const request = { model: 'singer', messages, max_tokens: LINE_TOKENS, seed: 2 * seed + lines.length };
    const { choices } = await openai.chat.completions.create(request, { headers });
    const line = choices[0]?.message.content ?? '';
    lines.push(line);
    messages.push({ role: 'assistant', content: line }, { role: 'user', content: 'And the next line?' });
  }
  return lines;
}

/** How well a song can be sung: the share of vowels in its lines, from 0 to 1. */
function singability(lines: readonly string[]): number {
  const shares = lines.map((line) => (line.match(/[aeiou]/g) ?? []).length / Math.max(line.length, LINE_TOKENS / 2));
  return mean(shares);
}

const program = {
  about: 'Trains an agent that is written against the official openai package, through what the gateway captures.',
  options: {
    iterations: { default: '20', help: 'rounds of playing and training' },
    seed: { default: '1', help: 'of the adapter and of the songs' },
  },
};

await runExample(program, async ({ signal, count }) => {
  await using target = await openTarget({ signal });
  console.log(`Training on ${target.description}`);
  const { service, baseModel, learningRate } = target;
  const training = await service.createLoraTrainingClient({ baseModel, rank: 16, seed: count('seed'), signal });
  const renderer = getRenderer(getRecommendedRendererName(baseModel), toRendererTokenizer(await training.getTokenizer({ signal })));

  // The agent always asks for the model "singer"; after each step, that is the model with the new weights.
  let sampling = await training.saveWeightsAndGetSamplingClient({ retry: true, signal });
  const singer = { renderer, sampler: { sample: (...call: Parameters<typeof sampling.sample>) => sampling.sample(...call) } };
  let captured: CapturedExchange[] = [];
  await using gateway = await startGateway({ models: { singer }, capture: (exchange) => void captured.push(exchange) });
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  let songs = 100_000 * count('seed');
  const play = async (theme: string, episode: string) =>
    singability(await writeSong(openai, theme, songs++, { [EPISODE_HEADER]: episode }));

  const unseenReward = async () =>
    mean(await Promise.all(UNSEEN_THEMES.flatMap((theme) => [1, 2, 3, 4].map((n) => play(theme, `unseen/${n}`)))));
  const before = await unseenReward();
  const iterations = count('iterations');
  const curve = new LiveCurve({ name: 'reward', totalSteps: iterations, signal, printEvery: 3 });
  for (let iteration = 0; iteration < iterations; iteration += 1) {
    captured = [];
    const episodes = THEMES.flatMap((theme) => Array.from({ length: EPISODES_PER_THEME }, (_, n) => ({ theme, name: `${theme}/${n}` })));
    const rewards = new Map(await Promise.all(episodes.map(async ({ theme, name }) => [name, await play(theme, name)] as const)));
    const taskOf = (episode: string) => episode.slice(0, episode.indexOf('/'));
    const groups = trajectoriesFromCapture(captured, { rewardOf: (episode) => rewards.get(episode), taskOf });
    const data = assembleData(groups, computeAdvantages(groups)).map(({ datum }) => datum);
    const pass = training.forwardBackward(data, 'importance_sampling', { signal });
    await Promise.all([pass, training.optimStep({ learningRate }, { signal })]);
    sampling = await training.saveWeightsAndGetSamplingClient({ retry: true, signal });
    curve.add(mean([...rewards.values()]));
  }
  console.log(`Mean reward on unseen prompts: ${before.toFixed(2)} → ${(await unseenReward()).toFixed(2)}`);
  console.log(`A song: ${(await writeSong(openai, UNSEEN_THEMES[0] ?? '', songs)).map(quoted).join(' ')}`);
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
