/** A thousand prompts at once: bounded concurrency, a server that says "slow down", live progress. */
import { subscribe } from '@tinkex/http';
import { attachProgress } from '@tinkex/telemetry';
import { ModelInput } from '@tinkex/types';
import { writeOutput } from './shared/output.js';
import { runExample } from './shared/run-example.js';
import { openTarget } from './shared/target.js';

const program = {
  about: 'Samples many prompts as fast as the server lets it, and keeps going when the server asks for a pause.',
  options: { prompts: { default: '1000', help: 'how many' }, concurrency: { default: '64', help: 'calls under way at once' } },
};

await runExample(program, async ({ signal, count }) => {
  const prompts = count('prompts');
  const concurrency = count('concurrency');
  await using target = await openTarget({ signal });
  console.log(`Sampling from ${target.description}`);
  // The embedded server plays a busy one: after 100 calls it refuses three, with the time to wait.
  target.server?.on('asample').pass().times(100);
  target.server?.on('asample').reply(429, { retryAfterMs: 150 }).times(3);

  // With `retry`, a refused call waits and is sent again under the same number; without it, it would fail with a RateLimitError.
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
    // Answers come as they finish; prompts are read only as far ahead as needed, so the source may be endless.
    try {
      for await (const { index, response } of sampling.sampleMany(inputs(), { concurrency, signal })) {
        const text = tokenizer.decode(response.sequences[0]?.tokens ?? []);
        lines.push(JSON.stringify({ index, text }));
      }
    } catch (error) {
      if (!signal.aborted) throw error; // after Ctrl-C, what has come is kept
    }
  }
  unsubscribe();

  const seconds = (performance.now() - startedAt) / 1000;
  const file = await writeOutput('concurrent-sampling.jsonl', `${lines.join('\n')}\n`);
  console.log(
    `\n${lines.length} of ${prompts} answers in ${seconds.toFixed(1)} s, ${(lines.length / seconds).toFixed(0)} a second\nWritten to ${file}`,
  );
  console.log(`The server asked for a pause ${pauses} times; ${signal.aborted ? 'interrupted' : 'no answer was lost'}.`);
});
