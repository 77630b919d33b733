import { createInterface, type Interface } from 'node:readline';
import type { ServiceClient } from '@tinkex/clients';
import { withPatientService } from '../config/connect.js';
import { findModel, openModel } from '../config/open-model.js';
import { AnswerView } from '../output/answer-view.js';
import { numberOf, positiveCountOf } from './arguments.js';
import { ChatSession } from './chat-session.js';
import { type CommandContext, type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';
import { type SamplingFlags, samplingParams } from './sample.js';

interface ChatOptions extends SamplingFlags {
  readonly system?: string | undefined;
  readonly compare?: string | undefined;
  readonly think?: boolean | undefined;
}

/** `tinkex chat` */
export const register: RegisterCommand = (command, process) => {
  command
    .argument('[model]', 'a base model, a tinker:// path or a run folder; default: the run of the configuration')
    .option('--system <text>', 'a system message')
    .option('--compare <model>', 'let another model answer too')
    .option('--think', 'show what a model thinks, unfolded')
    .option('--max-tokens <count>', 'the most tokens of an answer', positiveCountOf, 512)
    .option('--temperature <value>', 'randomness; 0 takes the likeliest token (default: 0.7)', numberOf)
    .option('--top-p <share>', 'only the likeliest tokens with this share together', numberOf)
    .option('--seed <number>', 'repeatable answers', numberOf)
    .addHelpText('after', examples(['chat', 'to the model you trained'], ['chat --compare tinkex/tiny', 'side by side with its base']))
    .addHelpText('after', '\nWithin a chat, /help lists what you can do.')
    .action(
      runWith<ChatOptions>(process, async (context, options, [name]) => {
        await withPatientService(context, {}, (service) => chat(context, service, options, name));
      }),
    );
};

const DEFAULT_TEMPERATURE = 0.7;

async function chat(context: CommandContext, service: ServiceClient, options: ChatOptions, name: string | undefined): Promise<void> {
  const { terminal, signal, streams } = context;
  const open = async (wanted: string | undefined) => openModel(service, await findModel(wanted), signal);
  const session = new ChatSession({
    terminal,
    model: await open(name),
    rival: options.compare === undefined ? undefined : await open(options.compare),
    open,
    view: new AnswerView(terminal, options.think === true),
    samplingParams: samplingParams({ ...options, temperature: options.temperature ?? DEFAULT_TEMPERATURE }),
    system: options.system,
  });
  if (terminal.isInteractive) terminal.note(terminal.noteStyle.dim(`Talking to ${session.label}. /help lists commands, Ctrl-D ends.`));
  const lines = createInterface({ input: streams.input, output: streams.error, terminal: terminal.isInteractive, prompt: '› ' });
  await converse(lines, session, context);
}

/** Reads lines until the end of the input, Ctrl-D, or `/exit`. Ctrl-C stops an answer; between answers it ends the chat. */
async function converse(lines: Interface, session: ChatSession, { terminal, signal }: CommandContext): Promise<void> {
  let answering: AbortController | undefined;
  const stop = (): void => {
    if (answering === undefined) lines.close();
    else answering.abort();
  };
  lines.on('SIGINT', stop);
  signal.addEventListener('abort', stop, { once: true });
  const ask = (): void => {
    if (terminal.isInteractive) lines.prompt();
  };
  ask();
  try {
    for await (const line of lines) {
      answering = new AbortController();
      const isOver = line.trim() === '' ? false : await session.take(line.trim(), answering.signal);
      answering = undefined;
      if (isOver || signal.aborted) break;
      ask();
    }
  } finally {
    signal.removeEventListener('abort', stop);
    lines.close();
  }
}
