/** A supervised run from its first request to its last checkpoint, after a short one that connects and compiles. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceClient } from '@tinkex/clients';
import { conversationsFromJsonl, trainSupervised } from '@tinkex/cookbook';
import { program } from '../measure/program.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Conversations, one per line. */
  readonly file: string;
  readonly batchSize: number;
  readonly steps: number;
  readonly warmUpSteps: number;
}

await program(async ({ baseUrl, apiKey, file, batchSize, steps, warmUpSteps }: Task) => {
  const folder = await mkdtemp(join(tmpdir(), 'tinkex-bench-'));
  try {
    const train = async (maxSteps: number): Promise<void> => {
      await using service = new ServiceClient({ baseUrl, apiKey, telemetry: false });
      const run = await trainSupervised({
        service,
        model: 'tinkex/tiny',
        rendererName: 'role_colon',
        learningRate: 1e-4,
        data: conversationsFromJsonl(file),
        batchSize,
        maxSteps,
        evalEvery: 0,
        saveEvery: 0,
        logPath: join(folder, `run-${maxSteps}`),
      });
      if (run.step !== maxSteps) throw new Error(`The loop ended after ${run.step} of ${maxSteps} steps.`);
    };
    await train(warmUpSteps);
    const stop = stopwatch();
    await train(steps);
    const { cpuMs, wallMs } = stop();
    return { cpuMsPerStep: cpuMs / steps, wallMsPerStep: wallMs / steps, cpuShareOfWall: cpuMs / wallMs };
  } finally {
    await rm(folder, { recursive: true });
  }
});
