import { ConfigurationError } from '@tinkex/types';
import { type Clock, systemClock } from '../clock/clock.js';
import { type AuthProvider, checkedCredential, HiddenCredential } from './auth-provider.js';
import { type Command, runCommand } from './run-command.js';

/** Options of `credentialCommand`. */
export interface CredentialCommandOptions {
  /** Limit for one run, milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** An `AuthProvider` that also returns its credential alone, for an exchange. */
export interface CredentialCommand extends AuthProvider {
  /** Runs the command and returns what it prints, trimmed. Calls that overlap share one run. */
  credential(): Promise<string>;
}

/**
 * Reads the credential from a program's output, again for each use, and sends it as `X-API-Key`. The command runs exactly as
 * you write it. If it fails, prints nothing or takes too long, the call ends immediately with `ConfigurationError`.
 *
 * @param command - Text for the user's shell, or `[program, ...args]` to run without a shell.
 */
export function credentialCommand(command: Command, options: CredentialCommandOptions = {}): CredentialCommand {
  if (command.length === 0 || command[0] === '') throw commandError('is empty.');
  return new CommandCredential(command, options);
}

class CommandCredential extends HiddenCredential implements CredentialCommand {
  readonly #command: Command;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #running: Promise<string> | undefined;

  constructor(command: Command, { timeoutMs = 30_000, clock = systemClock }: CredentialCommandOptions) {
    super('credential command');
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

  async #run(): Promise<string> {
    const output = await runCommand(this.#command, this.#timeoutMs, this.#clock, this.#closing.signal);
    const credential = output.trim();
    if (credential === '') throw commandError('printed nothing. Run it by hand to see why.');
    return checkedCredential(credential, 'The output of the credential command');
  }
}

function commandError(problem: string): ConfigurationError {
  return new ConfigurationError({ message: `The credential command ${problem}`, option: 'credentialCommand' });
}
