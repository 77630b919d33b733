import type { SamplingParams } from '@tinkex/clients';
import { withPatientService } from '../config/connect.js';
import { findModel, openModel } from '../config/open-model.js';
import { wrongUsage } from '../output/command-failure.js';
import { showJson } from '../output/show-result.js';
import { numberOf, positiveCountOf } from './arguments.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';
import { readAll } from './read-input.js';

/** Options of commands that sample. */
export interface SamplingFlags {
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly seed?: number | undefined;
}

interface SampleOptions extends SamplingFlags {
  readonly prompt?: string | undefined;
  readonly system?: string | undefined;
  readonly raw?: boolean | undefined;
  readonly numSamples: number;
}

/** `tinkex sample` */
export const register: RegisterCommand = (command, process) => {
  command
    .argument('[model]', 'a base model, a tinker:// path or a run folder; default: the run of the configuration')
    .option('-p, --prompt <text>', 'the prompt; default: what stdin has')
    .option('--system <text>', 'a system message before it')
    .option('--raw', 'the prompt is text to continue, not a message')
    .option('-n, --num-samples <count>', 'how many answers', positiveCountOf, 1)
    .option('--max-tokens <count>', 'the most tokens of an answer', positiveCountOf, 512)
    .option('--temperature <value>', 'randomness; 0 takes the likeliest token', numberOf)
    .option('--top-p <share>', 'only the likeliest tokens with this share together', numberOf)
    .option('--seed <number>', 'repeatable answers', numberOf)
    .addHelpText(
      'after',
      examples(
        ['sample -p "What is 2+2?"', 'from the model you trained'],
        ['sample Qwen/Qwen3-8B -p "Hello" -n 4 --json', 'four answers, for programs'],
      ),
    )
    .action(
      runWith<SampleOptions>(process, async (context, options, [name]) => {
        const prompt = options.prompt ?? (context.terminal.isInteractive ? undefined : await readAll(context.streams.input));
        if (prompt === undefined || prompt === '') throw wrongUsage('There is no prompt', 'Pass --prompt TEXT, or pipe it in.');
        const { signal, terminal, format } = context;
        const texts = await withPatientService(context, {}, async (service) => {
          const { sampler, renderer } = await openModel(service, await findModel(name), signal);
          const { numSamples, system, raw = false } = options;
          const { createCompleter } = await import('@tinkex/renderers');
          if (raw) {
            const { ModelInput } = await import('@tinkex/types');
            const input = ModelInput.fromInts(Int32Array.from(renderer.tokenizer.encode(prompt)));
            const { sequences } = await sampler.sample({ prompt: input, numSamples, samplingParams: samplingParams(options) }, { signal });
            return sequences.map(({ tokens }) => renderer.tokenizer.decode(tokens));
          }
          const { messageText } = await import('@tinkex/cookbook');
          const complete = createCompleter({ sampler, renderer, samplingParams: samplingParams(options) });
          const before = system === undefined ? [] : [{ role: 'system', content: system } as const];
          const { choices } = await complete([...before, { role: 'user', content: prompt }], { numSamples, signal });
          return choices.map(({ message }) => messageText(message));
        });
        if (format === 'json') showJson(context, { samples: texts });
        else for (const text of texts) terminal.print(text);
      }),
    );
};

/** The parameters of a sample. */
export function samplingParams({ maxTokens, temperature, topP, seed }: SamplingFlags): SamplingParams {
  return { maxTokens, temperature, topP, seed };
}
