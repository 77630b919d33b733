import { Command, Option } from 'commander';
import { countOf } from './commands/arguments.js';
import { registerAuthLogin } from './commands/auth-login.js';
import { registerAuthLogout } from './commands/auth-logout.js';
import { registerAuthStatus } from './commands/auth-status.js';
import { registerAuthWhoami } from './commands/auth-whoami.js';
import { registerBillingCheckpointStorage } from './commands/billing-checkpoint-storage.js';
import { registerBillingUsage } from './commands/billing-usage.js';
import { registerChat } from './commands/chat.js';
import { registerCheckpointCopy } from './commands/checkpoint-copy.js';
import { registerCheckpointDelete } from './commands/checkpoint-delete.js';
import { registerCheckpointDownload } from './commands/checkpoint-download.js';
import { registerCheckpointInfo } from './commands/checkpoint-info.js';
import { registerCheckpointList } from './commands/checkpoint-list.js';
import { registerCheckpointPublish } from './commands/checkpoint-publish.js';
import { registerCheckpointSetTtl } from './commands/checkpoint-set-ttl.js';
import { registerCheckpointUnpublish } from './commands/checkpoint-unpublish.js';
import type { ProcessContext, RegisterCommand } from './commands/command-context.js';
import { registerCompletion } from './commands/completion.js';
import { registerCostEstimate } from './commands/cost-estimate.js';
import { registerDataCheck } from './commands/data-check.js';
import { registerDoctor } from './commands/doctor.js';
import { registerGateway } from './commands/gateway.js';
import { examples } from './commands/help-text.js';
import { registerInit } from './commands/init.js';
import { registerInspect } from './commands/inspect.js';
import { registerModelList } from './commands/model-list.js';
import { registerRender } from './commands/render.js';
import { registerResume } from './commands/resume.js';
import { registerRunInfo } from './commands/run-info.js';
import { registerRunList } from './commands/run-list.js';
import { registerSample } from './commands/sample.js';
import { registerSamplerInfo } from './commands/sampler-info.js';
import { registerServe } from './commands/serve.js';
import { registerSessionExportTrace } from './commands/session-export-trace.js';
import { registerSessionInfo } from './commands/session-info.js';
import { registerSessionList } from './commands/session-list.js';
import { registerSessionSearch } from './commands/session-search.js';
import { registerTrain } from './commands/train.js';
import { registerVersion } from './commands/version.js';
import { version } from './version.js';

const EXIT_CODES = `
Exit codes:
  0  success
  1  failure; with --json, stderr has one line of JSON with the reason
  2  wrong usage
  3  invalid data or configuration; nothing was sent
  130  stopped by Ctrl-C`;

/** The whole command line. Only commander and the definitions of commands are loaded here; a command loads what it works with when it runs. */
export function createProgram(process: ProcessContext): Command {
  const program = new Command('tinkex')
    .description('Train, sample and manage language models with Tinker.')
    .version(`tinkex ${version}`, '-v, --version', 'show the version')
    .addOption(new Option('-f, --format <format>', 'how results are written').choices(['table', 'json', 'csv']).default('table'))
    .option('--json', 'write results as JSON; the same as --format json')
    .option('--base-url <url>', 'the server; default: TINKER_BASE_URL, then the hosted service, or without a key the embedded engine')
    .option('--local', 'the embedded engine, whose state is in .tinkex/, even if a key is set')
    .option('--max-retries <count>', 'how often a request is repeated after a temporary failure (default: 3)', countOf)
    .option('--no-color', 'no colors; NO_COLOR does the same')
    .option('--debug', 'show the stack of a failure')
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .addHelpText(
      'after',
      examples(
        ['init', 'start here: no account needed'],
        ['train sft', 'train on your conversations'],
        ['chat', 'talk to the result'],
        ['run list --json', 'for programs'],
      ),
    )
    .addHelpText('after', EXIT_CODES);
  // Commander gives these to the commands that are created below.
  program.exitOverride().showHelpAfterError('(--help shows what is possible)');

  for (const register of [registerInit, registerTrain, registerResume, registerChat, registerSample]) register(program, process);
  group(program, process, 'data', 'Training data.', [registerDataCheck]);
  group(program, process, 'cost', 'What training costs.', [registerCostEstimate]);
  group(program, process, 'auth', 'Log in and out, and see who you are.', [
    registerAuthLogin,
    registerAuthLogout,
    registerAuthStatus,
    registerAuthWhoami,
  ]);
  group(program, process, 'model', 'Models of the server.', [registerModelList]);
  group(program, process, 'run', 'Training runs.', [registerRunList, registerRunInfo]);
  group(program, process, 'checkpoint', 'Saved weights.', [
    registerCheckpointList,
    registerCheckpointInfo,
    registerCheckpointPublish,
    registerCheckpointUnpublish,
    registerCheckpointSetTtl,
    registerCheckpointDelete,
    registerCheckpointDownload,
    registerCheckpointCopy,
  ]);
  group(program, process, 'session', 'Sessions of clients.', [
    registerSessionList,
    registerSessionInfo,
    registerSessionSearch,
    registerSessionExportTrace,
  ]);
  group(program, process, 'sampler', 'Samplers of sessions.', [registerSamplerInfo]);
  group(program, process, 'billing', 'What the organization uses.', [registerBillingUsage, registerBillingCheckpointStorage]);
  for (const register of [registerRender, registerDoctor, registerServe, registerGateway, registerInspect]) register(program, process);
  registerCompletion(program, process);
  registerVersion(program, process);
  return program;
}

function group(program: Command, process: ProcessContext, name: string, description: string, commands: readonly RegisterCommand[]): void {
  const parent = program.command(name).description(description).addHelpText('after', `\n\`tinkex ${name} COMMAND --help\` shows examples.`);
  for (const register of commands) register(parent, process);
}
