import { inspect } from 'node:util';
import { ConfigurationError } from '@tinkex/types';
import { type Clock, systemClock } from '../clock/clock.js';
import { checkedCredential } from './api-key.js';
import type { AuthProvider } from './auth-provider.js';
import { type Command, runCommand } from './run-command.js';

/** Options of `credentialCommand`. */
export interface CredentialCommandOptions {
  /** Limit of one run, milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** An `AuthProvider` whose credential can also be fetched by itself, for an exchange. */
export interface CredentialCommand extends AuthProvider {
  /** Runs the command and returns what it printed, trimmed. Calls that overlap share one run. */
  credential(): Promise<string>;
}

/**
 * Takes the credential from a program's output, anew for each use, and sends it as `X-API-Key`. Nothing of ours is ever put
 * into the command. A command that fails, prints nothing or takes too long ends the call at once with `ConfigurationError`.
 *
 * @param command - Text for the user's shell, or `[program, ...args]` to run without a shell.
 */
export function credentialCommand(command: Command, options: CredentialCommandOptions = {}): CredentialCommand {
  if (command.length === 0 || command[0] === '') {
    throw new ConfigurationError({ message: 'The credential command is empty.', option: 'credentialCommand' });
  }
  return new CommandCredential(command, options);
}

class CommandCredential implements CredentialCommand {
  readonly #command: Command;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #running: Promise<string> | undefined;

  constructor(command: Command, { timeoutMs = 30_000, clock = systemClock }: CredentialCommandOptions) {
    this.#command = command;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  async headers(): Promise<Record<string, string>> {
    return { 'x-api-key': await this.credential() };
  }

  credential(): Promise<string> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  close(): void {
    this.#closing.abort();
  }

  toJSON(): string {
    return '[credential command]';
  }

  [inspect.custom](): string {
    return '[credential command]';
  }

  async #run(): Promise<string> {
    const output = await runCommand(this.#command, this.#timeoutMs, this.#clock, this.#closing.signal);
    const credential = output.trim();
    if (credential === '') {
      throw new ConfigurationError({
        message: 'The credential command printed nothing. Run it by hand to see why.',
        option: 'credentialCommand',
      });
    }
    return checkedCredential(credential, 'The output of the credential command');
  }
}
