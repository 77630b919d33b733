import type { RegisterCommand } from './commands/command-context.js';

/** A command of the first level: one that works itself, or a group of commands. */
export interface TopLevelCommand {
  readonly name: string;
  readonly description: string;
  /** Whether it only holds other commands. */
  readonly isGroup?: boolean | undefined;
  /** Loads what defines it: its options, its arguments and the commands below it. */
  readonly load: () => Promise<readonly { readonly register: RegisterCommand }[]>;
}

/** All commands of the first level, in the order of the help. */
export const COMMAND_TABLE: readonly TopLevelCommand[] = [
  {
    name: 'init',
    description: 'Write a configuration for `tinkex train`, from a few questions.',
    load: () => all(import('./commands/init.js')),
  },
  {
    name: 'train',
    description: 'Train a model as tinkex.config.ts says. A run that was stopped continues.',
    load: () => all(import('./commands/train.js')),
  },
  {
    name: 'resume',
    description: 'Continue a run of `tinkex train` where its last checkpoint was saved.',
    load: () => all(import('./commands/resume.js')),
  },
  { name: 'chat', description: 'Talk to a model. In a pipe, each line is a message.', load: () => all(import('./commands/chat.js')) },
  { name: 'sample', description: 'Sample answers to one prompt.', load: () => all(import('./commands/sample.js')) },
  { name: 'data', description: 'Training data.', isGroup: true, load: () => all(import('./commands/data-check.js')) },
  { name: 'cost', description: 'What training costs.', isGroup: true, load: () => all(import('./commands/cost-estimate.js')) },
  {
    name: 'auth',
    description: 'Log in and out, and see who you are.',
    isGroup: true,
    load: () =>
      all(
        import('./commands/auth-login.js'),
        import('./commands/auth-logout.js'),
        import('./commands/auth-status.js'),
        import('./commands/auth-whoami.js'),
      ),
  },
  { name: 'model', description: 'Models of the server.', isGroup: true, load: () => all(import('./commands/model-list.js')) },
  {
    name: 'run',
    description: 'Training runs.',
    isGroup: true,
    load: () => all(import('./commands/run-list.js'), import('./commands/run-info.js')),
  },
  {
    name: 'checkpoint',
    description: 'Saved weights.',
    isGroup: true,
    load: () =>
      all(
        import('./commands/checkpoint-list.js'),
        import('./commands/checkpoint-info.js'),
        import('./commands/checkpoint-publish.js'),
        import('./commands/checkpoint-unpublish.js'),
        import('./commands/checkpoint-set-ttl.js'),
        import('./commands/checkpoint-delete.js'),
        import('./commands/checkpoint-download.js'),
        import('./commands/checkpoint-push-hf.js'),
        import('./commands/checkpoint-copy.js'),
      ),
  },
  {
    name: 'session',
    description: 'Sessions of clients.',
    isGroup: true,
    load: () =>
      all(
        import('./commands/session-list.js'),
        import('./commands/session-info.js'),
        import('./commands/session-search.js'),
        import('./commands/session-export-trace.js'),
      ),
  },
  { name: 'sampler', description: 'Samplers of sessions.', isGroup: true, load: () => all(import('./commands/sampler-info.js')) },
  {
    name: 'billing',
    description: 'What the organization uses.',
    isGroup: true,
    load: () => all(import('./commands/billing-usage.js'), import('./commands/billing-checkpoint-storage.js')),
  },
  {
    name: 'render',
    description: 'Show conversations as a model reads them, and what is trained on: green, or between « and » without colors.',
    load: () => all(import('./commands/render.js')),
  },
  {
    name: 'doctor',
    description:
      'Check everything that a run needs: Node, key, server, clock, proxy, model, tokenizer and renderer. Ends with 1 if something is wrong.',
    load: () => all(import('./commands/doctor.js')),
  },
  {
    name: 'serve',
    description:
      'Serve the embedded engine as a Tinker server for clients in any language, its models as an OpenAI API, and its runs as a page, until Ctrl-C.',
    load: () => all(import('./commands/serve.js')),
  },
  {
    name: 'gateway',
    description: "Serve OpenAI's and Anthropic's APIs over your models, on this machine, until Ctrl-C.",
    load: () => all(import('./commands/gateway.js')),
  },
  { name: 'inspect', description: 'Show runs in a browser, live, until Ctrl-C.', load: () => all(import('./commands/inspect.js')) },
  {
    name: 'completion',
    description: 'Print a script that completes commands and options in your shell.',
    load: () => all(import('./commands/completion.js')),
  },
  { name: 'version', description: 'Show the version of this command.', load: () => all(import('./commands/version.js')) },
];

function all<T>(...modules: readonly Promise<T>[]): Promise<readonly T[]> {
  return Promise.all(modules);
}
