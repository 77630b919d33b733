/** A thousand prompts: bounded concurrency, rate limits, live progress. */
import { subscribe } from '@tinkex/http';
import { attachProgress } from '@tinkex/telemetry';
import { ModelInput } from '@tinkex/types';
import { writeOutput } from './shared/output.js';
import { runExample } from './shared/run-example.js';
import { openTarget } from './shared/target.js';

const program = {
  about: 'Samples many prompts as fast as the server allows, and waits when the server asks for a pause.',
  options: {
    prompts: { default: '1000', help: 'number of prompts' },
    concurrency: { default: '64', help: 'calls in flight at the same time' },
  },
};

await runExample(program, async ({ signal, count }) => {
  const prompts = count('prompts');
  const concurrency = count('concurrency');
  await using target = await openTarget({ signal });
  console.log(`Sampling from ${target.description}`);
  // Makes the embedded server act busy: after 100 calls it rejects three and names the time to wait.
  target.server?.on('asample').pass().times(100);
  target.server?.on('asample').reply(429, { retryAfterMs: 150 }).times(3);

  // With `retry`, a rejected call waits and is sent again with the same sequence ID; without it, the call fails with a RateLimitError.
  const sampling = await target.service.createSamplingClient({ baseModel: target.baseModel, retry: true, signal });
  const tokenizer = await sampling.getTokenizer({ signal });
  function* inputs() {
    for (let index = 0; index < prompts; index++) {
      const prompt = ModelInput.fromText(`Item ${index}: `, tokenizer);
      yield { prompt, samplingParams: { maxTokens: 8, temperature: 0.8, seed: index } };
    }
  }

  const lines: string[] = [];
  let pauses = 0;
  const unsubscribe = subscribe('tinkex:rate_limit:set', () => {
    pauses += 1;
  });
  const startedAt = performance.now();
  {
    using _progress = attachProgress({ stream: process.stdout, totalSteps: prompts, stepType: 'Sample' });
    // Answers arrive as they finish. Prompts are read only as far ahead as needed, so the source may be infinite.
    try {
      for await (const { index, response } of sampling.sampleMany(inputs(), { concurrency, signal })) {
        const text = tokenizer.decode(response.sequences[0]?.tokens ?? []);
        lines.push(JSON.stringify({ index, text }));
      }
    } catch (error) {
      if (!signal.aborted) throw error; // after Ctrl-C, keep the answers so far
    }
  }
  unsubscribe();

  const seconds = (performance.now() - startedAt) / 1000;
  const file = await writeOutput('concurrent-sampling.jsonl', `${lines.join('\n')}\n`);
  console.log(
    `\n${lines.length} of ${prompts} answers in ${seconds.toFixed(1)} s, ${(lines.length / seconds).toFixed(0)} per second\nWritten to ${file}`,
  );
  console.log(`The server asked for a pause ${pauses} times; ${signal.aborted ? 'the run was interrupted' : 'no answer was lost'}.`);
});
