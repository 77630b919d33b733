#!/usr/bin/env node
import { Command, Option } from 'commander';
import { DIALECTS } from '../dialects/presets.js';
import { serve } from './serve.js';
import { dialectOf, engineOf, flagOf, portOf, rateOf, type ServeOptions, seedOf } from './serve-options.js';
import { replayOptionsOf, serveReplay } from './serve-replay.js';

const program = new Command('tinkex-testkit').description('A local Tinker service for tests, in any language.');

program
  .command('serve', { isDefault: true })
  .description('Serve the Tinker API locally.')
  .option('-p, --port <number>', 'port to listen on; 0 for any free port', portOf, 8000)
  .option('--host <address>', 'address to listen on; by default only this machine can connect', '127.0.0.1')
  .option('--allow-host <name...>', 'names that the Host header may have, in addition to addresses and localhost', [])
  .option('--engine <name>', 'learn (small models that really learn) or canned (fixed answers)', engineOf, 'learn' as const)
  .option('--dialect <name>', `server to imitate: ${Object.keys(DIALECTS).join(', ')}`, dialectOf, 'hosted' as const)
  .option('--model <name...>', 'names that the capabilities list besides tinkex/tiny', [])
  .option('--no-any-model', 'refuse base models that are not listed; by default any name is a base model')
  .option('--flag <name[=value]>', 'flag for clients, such as sample_use_retrieve_futures; repeat it for more', flagOf)
  .option('--strict', 'refuse fields that the protocol does not know; by default they are ignored and logged', false)
  .option('--chaos <seed>', 'inject random faults that depend on this seed', seedOf)
  .option('--chaos-rate <share>', 'share of requests that get a fault, with --chaos', rateOf, 0.1)
  .option('--state <dir>', 'keep sessions, models and checkpoints in this folder across restarts')
  .addOption(new Option('--durability <level>', 'when a change is on disk, with --state').choices(['relaxed', 'strict']).default('relaxed'))
  .option('--record <upstream, dir...>', 'pass requests on to the server UPSTREAM and record its answers in the folder DIR')
  .option('--replay <dir>', 'answer from the recording in this folder, without any other server')
  .option('--record-on-miss <upstream>', 'with --replay: pass on what the recording does not have, and add it')
  .option('--control [token]', 'let tests in other processes script this server under /__testkit; prints a token unless one is given')
  .option('--control-remote', 'with --control: also for programs on other machines', false)
  .option('--virtual-clock', 'time stands still until it is advanced under /__testkit/clock, with --control', false)
  .option('--until-stdin-ends', 'stop when standard input ends, as it does when the program that started this one is gone', false)
  .option('--sampling-seed <number>', 'seed of samples that have none', seedOf, 0)
  .addOption(
    new Option('--sampled-logprobs <kind>', 'log-probabilities of sampled tokens: before the temperature or after it')
      .choices(['raw', 'tempered'])
      .default('raw'),
  )
  .option('--no-log', 'do not log requests')
  .action(async (options: ServeOptions, command: Command) => {
    if (options.chaos === undefined && command.getOptionValueSource('chaosRate') === 'cli') {
      command.error("error: option '--chaos-rate' has no effect without '--chaos <seed>'");
    }
    if (options.state === undefined && command.getOptionValueSource('durability') === 'cli') {
      command.error("error: option '--durability' has no effect without '--state <dir>'");
    }
    if (options.control === undefined && (options.controlRemote === true || options.virtualClock === true)) {
      command.error("error: options '--control-remote' and '--virtual-clock' have no effect without '--control'");
    }
    const replay = replayOptionsOf(options, (message) => command.error(`error: ${message}`));
    if (replay !== undefined) return serveReplay(replay, options, { write: (line) => process.stdout.write(`${line}\n`) });
    await serve(options, { write: (line) => process.stdout.write(`${line}\n`) });
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
