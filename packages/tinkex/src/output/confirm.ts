import type { CommandContext } from '../commands/command-context.js';
import { wrongUsage } from './command-failure.js';

/** Asks before something that cannot be undone. Without a terminal `--yes` must confirm it. */
export async function confirm({ terminal, signal, streams }: CommandContext, question: string): Promise<boolean> {
  if (!terminal.isInteractive)
    throw wrongUsage('This needs your confirmation, and there is no terminal to ask in', 'Pass --yes to confirm.');
  const { confirm: ask, isCancel } = await import('@clack/prompts');
  const answer = await ask({ message: question, initialValue: false, signal, output: streams.error });
  return !isCancel(answer) && answer;
}
