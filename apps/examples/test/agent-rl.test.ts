import { describe, expect, it } from 'vitest';
import { expectSuccess } from './both-ways.js';
import { runProgram } from './run-program.js';

/** `npm run gateway` takes five. */
const seeds = Array.from({ length: Number(process.env['TINKEX_AGENT_SEEDS'] ?? 1) }, (_, index) => index + 1);

describe('F.3 agent-rl', { timeout: 600_000 }, () => {
  it.each(seeds)(
    'trains an agent that knows only the openai package, with seed %i: its reward rises on prompts it never saw',
    async (seed) => {
      const ended = await runProgram('agent-rl', { args: ['--seed', `${seed}`] });
      expectSuccess(ended);
      const [, before, after] = /^Mean reward on unseen prompts: (\d\.\d+) → (\d\.\d+)$/m.exec(ended.stdout) ?? [];
      if (seeds.length > 1) console.log(`seed ${seed}: ${before} → ${after}`);
      expect(Number(before)).toBeLessThanOrEqual(0.3);
      expect(Number(after)).toBeGreaterThanOrEqual(0.8);
    },
  );
});
