import { ConfigurationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { readEnvironment, type TinkerEnvironment } from '../environment.js';
import { chooseCredential } from './credentials.js';
import { resolveConnectionOptions } from './resolve-options.js';

/** An environment with these variables and this credentials file; nothing of the machine. */
function environmentOf(variables: Record<string, string | null>, file?: string): TinkerEnvironment {
  const set = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== null);
  return { ...readEnvironment(Object.fromEntries(set)), readCredentialsFile: () => file };
}

describe('base-url vectors', () => {
  interface Input {
    readonly argument: string | null;
    readonly TINKER_BASE_URL: string | null;
  }
  it.each(readVectors<Input, string>('base-url'))('$name', ({ input, expected }) => {
    const { argument, ...variables } = input;
    const options = { baseUrl: argument ?? undefined, apiKey: 'tml-a' };
    expect(resolveConnectionOptions(options, environmentOf({ ...variables })).baseUrl).toBe(expected);
  });
});

describe('auth-provider vectors, for the hosted service', () => {
  interface Input {
    readonly api_key_argument: string | null;
    readonly TINKER_API_KEY: string | null;
    readonly TINKER_CREDENTIAL_CMD: string | null;
    readonly enforce_cmd: boolean;
    readonly stored?: object | string | null;
  }
  interface Expected {
    readonly error?: string;
    readonly provider?: 'api_key' | 'credential_cmd';
    readonly credential?: string;
  }
  it.each(readVectors<Input, Expected>('auth-provider'))('$name', async ({ input, expected }) => {
    const { api_key_argument: apiKey, enforce_cmd: isCommandRequired, stored = null, ...variables } = input;
    const file = stored === null ? undefined : typeof stored === 'string' ? stored : JSON.stringify(stored);
    const choose = () =>
      chooseCredential(resolveConnectionOptions({ apiKey: apiKey ?? undefined }, environmentOf(variables, file)), isCommandRequired);
    if (expected.error !== undefined) {
      expect(choose).toThrow(ConfigurationError);
      return;
    }
    const credential = choose();
    expect(credential?.source).toBe(expected.provider === 'api_key' ? 'apiKey' : 'command');
    if (expected.credential !== undefined) expect(await credential?.read()).toBe(expected.credential);
  });
});

describe('the credentials file', () => {
  const stored = JSON.stringify({ version: 1, default: '5', keys: { 5: { type: 'manual', key: 'tml-stored', name: 'n' } } });

  it('is not read for another server, nor when a key or a command is set', () => {
    const forbidden: TinkerEnvironment = {
      ...environmentOf({}),
      readCredentialsFile: () => {
        throw new Error('was read');
      },
    };
    expect(resolveConnectionOptions({ baseUrl: 'http://127.0.0.1:1' }, forbidden).storedApiKey).toBeUndefined();
    expect(resolveConnectionOptions({ apiKey: 'tml-a' }, forbidden).storedApiKey).toBeUndefined();
    expect(resolveConnectionOptions({ credentialCommand: 'echo x' }, forbidden).storedApiKey).toBeUndefined();
    expect(() => resolveConnectionOptions({}, forbidden)).toThrow('was read');
    expect(resolveConnectionOptions({}, environmentOf({}, stored)).storedApiKey).toBe('tml-stored');
  });
});
