import { expect, it } from 'vitest';
import { busyService } from './busy-service.js';
import { type Ended, runProgram, temporaryOutput } from './run-program.js';

/** What a program did, for a test to look at. */
export interface Result extends Pick<Ended, 'stdout'> {
  /** The folder with its files. */
  readonly out: string;
  /** The key it used. */
  readonly apiKey: string;
}

/** What to run. */
export interface BothWays {
  readonly example: string;
  /** Completes the sentence that the example's name begins. */
  readonly behaviour: string;
  /** Which model of the service to use. Default: its first. */
  readonly model?: string | undefined;
  /** For a shorter run through the bad network, where retries take their time. */
  readonly argsWhenBusy?: readonly string[] | undefined;
  readonly check: (result: Result) => void | Promise<void>;
}

/**
 * Two tests: an example shows the same on the embedded engine, without an account, and on a service that the environment names, through a
 * bad network. They run beside others: through a bad network a program mostly waits.
 */
export function itBothWays({ example, behaviour, model, argsWhenBusy = [], check }: BothWays): void {
  it.concurrent(`${example} ${behaviour}, on the embedded engine`, async () => {
    await using out = await temporaryOutput();
    const ended = await runProgram(example, { out: out.path });
    expectSuccess(ended);
    await check({ ...ended, out: out.path, apiKey: 'tml-test-key' });
  });

  it.concurrent(`${example} ${behaviour}, through a bad network`, async () => {
    await using out = await temporaryOutput();
    await using service = await busyService();
    const ended = await runProgram(example, {
      out: out.path,
      env: { ...service.env, ...(model && { TINKEX_BASE_MODEL: model }) },
      args: argsWhenBusy,
    });
    expectSuccess(ended);
    await check({ ...ended, out: out.path, apiKey: service.server.apiKey });
    expect(service.chaos.faults).toBeGreaterThan(0);
    service.server.verify();
  });
}

/** No failure, nothing on stderr, and in a pipe no colors and no moving lines. */
export function expectSuccess({ code, stdout, stderr }: Ended): void {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain('\u001b');
}
