/** Episodes of several turns that are all played at the same time, in one step of a loop. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceClient } from '@tinkex/clients';
import { type Env, type EnvGroup, trainRl } from '@tinkex/cookbook';
import { ModelInput } from '@tinkex/types';
import { program } from '../measure/program.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly episodes: number;
  readonly turns: number;
}

const GROUP_SIZE = 8;
const PROMPT_TOKENS = 256;
const ACTION_TOKENS = 64;
/** What the environment says between two actions. */
const ANSWER = Array.from({ length: 16 }, (_, index) => index + 65);

await program(async ({ baseUrl, apiKey, episodes, turns }: Task) => {
  const folder = await mkdtemp(join(tmpdir(), 'tinkex-bench-'));
  const groups = episodes / GROUP_SIZE;
  let [open, maxOpen, ended] = [0, 0, 0];

  const episode = (index: number): Env => {
    let tokens = Array.from({ length: PROMPT_TOKENS }, (_, place) => (place * 7 + index) % 256);
    let turn = 0;
    const observation = () => ({ prompt: ModelInput.fromInts(tokens), stop: ['.'] });
    return {
      initialObservation() {
        open += 1;
        maxOpen = Math.max(maxOpen, open);
        return observation();
      },
      step(action) {
        tokens = [...tokens, ...action.tokens, ...ANSWER];
        turn += 1;
        const episodeDone = turn === turns;
        if (episodeDone) {
          open -= 1;
          ended += 1;
        }
        return { reward: index % 2, episodeDone, next: observation() };
      },
    };
  };
  const dataset = Array.from(
    { length: groups },
    (): EnvGroup => ({ makeEnvs: ({ groupSize }) => Array.from({ length: groupSize }, (_, index) => episode(index)) }),
  );
  try {
    await using service = new ServiceClient({ baseUrl, apiKey, telemetry: false, limits: { maxConcurrentSamples: episodes } });
    const stop = stopwatch();
    await trainRl({
      service,
      model: 'tinkex/tiny',
      rendererName: 'role_colon',
      learningRate: 1e-4,
      dataset,
      groupsPerBatch: groups,
      groupSize: GROUP_SIZE,
      maxTokens: ACTION_TOKENS,
      maxConcurrentEpisodes: episodes,
      evalEvery: 0,
      saveEvery: 0,
      logPath: join(folder, 'run'),
    });
    const { cpuMs, wallMs } = stop();
    if (ended !== episodes) throw new Error(`${ended} of ${episodes} episodes were played.`);
    return { concurrentEpisodes: maxOpen, cpuMsPerEpisode: cpuMs / episodes, wallMs };
  } finally {
    await rm(folder, { recursive: true });
  }
});
