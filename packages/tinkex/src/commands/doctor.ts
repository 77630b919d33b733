import type { RendererFlags } from '../config/open-renderer.js';
import { checkKey, checkNode, checkProxy, checkUrl } from '../doctor/check-machine.js';
import { checkModelText } from '../doctor/check-model-text.js';
import { checkServer } from '../doctor/check-server.js';
import type { Verdict } from '../doctor/verdict.js';
import { EXIT } from '../output/exit-codes.js';
import { showJson } from '../output/show-result.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex doctor` */
export const register: RegisterCommand = (command, process) => {
  command
    .option('--model <name>', 'also check this base model, its tokenizer and its renderer')
    .option('--renderer <name>', 'instead of the one that the model was trained with')
    .option('--tokenizer <folder>', 'a folder with tokenizer.json')
    .addHelpText('after', examples(['doctor', 'the connection'], ['doctor --model Qwen/Qwen3-8B', 'and what a model needs']))
    .action(
      runWith<Partial<RendererFlags>>(process, async (context, options) => {
        const { model } = options;
        const verdicts = [
          checkNode(globalThis.process.versions.node),
          await checkKey(context),
          checkUrl(context),
          checkProxy(context),
          ...(await checkServer(context, model)),
          ...(model === undefined ? [] : await checkModelText(context, { ...options, model })),
        ];
        report(context, verdicts);
      }),
    );
};

function report(context: CommandContext, verdicts: readonly Verdict[]): void {
  const { terminal, format } = context;
  const isOk = verdicts.every((verdict) => verdict.isOk);
  if (!isOk) context.endWith(EXIT.failure);
  if (format === 'json') {
    showJson(context, {
      ok: isOk,
      checks: verdicts.map(({ check, isOk: ok, detail, cure }) => ({ check, ok, detail, cure: ok ? null : (cure ?? null) })),
    });
    return;
  }
  const { style } = terminal;
  for (const { check, isOk: ok, detail, cure } of verdicts) {
    terminal.print(`${ok ? style.green('ok  ') : style.red('FAIL')}  ${check}: ${detail}`);
    if (!ok && cure !== undefined) terminal.print(`      ${style.dim(cure)}`);
  }
}
