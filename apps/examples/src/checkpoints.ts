/** Checkpoints from start to end: save, list, inspect, publish, expire, download, resume, delete. */
import { readdir } from 'node:fs/promises';
import type { CallOptions } from '@tinkex/clients';
import { lossOf, ModelInput, nextTokenDatum } from '@tinkex/types';
import { explain } from './shared/explain.js';
import { outputPath, shownPath } from './shared/output.js';
import { runExample } from './shared/run-example.js';
import { openTarget } from './shared/target.js';

await runExample(
  {
    about: 'Saves checkpoints of a short run, shows everything you can do with them, and cleans up.',
    whenInterrupted: 'Checkpoints that were already saved stay on the server.',
  },
  async ({ signal }) => {
    await using target = await openTarget({ signal });
    console.log(`Using ${target.description}\n`);
    const training = await target.service.createLoraTrainingClient({ baseModel: target.baseModel, rank: 8, signal });
    const tokenizer = await training.getTokenizer({ signal });
    const data = [nextTokenDatum(ModelInput.fromText('Save early, save often.', tokenizer).toInts())];
    for (let step = 0; step < 5; step++) {
      const forward = training.forwardBackward(data, 'cross_entropy', { signal });
      const update = training.optimStep({ learningRate: target.learningRate }, { signal });
      await Promise.all([forward, update]);
    }
    // Two kinds: `weights`, with the state of the optimizer, to continue training; `sampler_weights` to sample from.
    const state = await training.saveState('step-5', { ttlSeconds: 24 * 3600, signal });
    const sampler = await training.saveWeightsForSampler('step-5', { signal });
    console.log(`saved    ${state.path}\nsaved    ${sampler.path}`);

    const rest = target.service.createRestClient();
    for await (const { checkpointId, checkpointType, sizeBytes, expiresAt } of rest.listCheckpoints(training.modelId, { signal })) {
      console.log(
        `listed   ${checkpointId}: ${checkpointType}, ${sizeBytes ?? '?'} bytes, ${expiresAt ? `expires ${expiresAt.toISOString()}` : 'kept'}`,
      );
    }
    const info = await rest.getWeightsInfoByTinkerPath(state.path, { signal });
    console.log(`inspect  base model ${info.baseModel}, rank ${info.loraRank}`);

    // The hosted service has all of these; other servers lack one or the other.
    await ifOffered('publish', async (call) => {
      await rest.publishCheckpointFromTinkerPath(sampler.path, call);
      console.log(`publish  public: ${await isPublic(sampler.path)}`);
      await rest.unpublishCheckpointFromTinkerPath(sampler.path, call);
      console.log(`publish  public: ${await isPublic(sampler.path)}`);
    });
    await ifOffered('expire', async (call) => {
      await rest.setCheckpointTtlFromTinkerPath(sampler.path, 3600, call);
      console.log('expire   the sampler weights expire in one hour');
    });
    await ifOffered('download', async (call) => {
      const directory = outputPath('checkpoint');
      const downloaded = await rest.downloadCheckpoint(sampler.path, { directory, overwrite: true, ...call });
      console.log(`download ${downloaded.fileCount} files, ${downloaded.totalBytes} bytes, in ${shownPath(downloaded.directory)}:`);
      for (const file of (await readdir(directory)).sort()) console.log(`           ${file}`);
    });

    // A new model that continues exactly where the first one is: both have the same loss.
    const { training: resumed } = await target.service.resume({ trainingRunId: training.modelId, signal });
    const [there, here] = await Promise.all([
      training.forward(data, 'cross_entropy', { signal }),
      resumed.forward(data, 'cross_entropy', { signal }),
    ]);
    console.log(
      `resume   loss of the original run ${lossOf(there, data)?.toFixed(4)}, of the resumed run ${lossOf(here, data)?.toFixed(4)}`,
    );

    await ifOffered('delete', async (call) => {
      for (const path of [state.path, sampler.path]) await rest.deleteCheckpointFromTinkerPath(path, call);
      console.log(`delete   ${(await rest.listCheckpoints(training.modelId, call).toArray()).length} checkpoints are left`);
    });

    /** Runs a step that a server may lack: its error is shown, and the example continues. A server that only fails is given up on early. */
    async function ifOffered(name: string, step: (call: CallOptions) => Promise<void>): Promise<void> {
      try {
        await step({ signal, timeoutMs: 30_000 });
      } catch (error) {
        if (signal.aborted || target.server !== undefined) throw error;
        console.log(`${name.padEnd(8)} not on this server. ${explain(error)}`);
      }
    }

    async function isPublic(path: string): Promise<boolean | undefined> {
      const all = await rest.listCheckpoints(training.modelId, { signal }).toArray();
      return all.find(({ tinkerPath }) => tinkerPath === path)?.public;
    }
  },
);
