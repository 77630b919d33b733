import { type AuthProvider, apiKeyAuth, credentialCommand, selectCredential } from '@tinkex/http';
import { ConfigurationError } from '@tinkex/types';
import type { ResolvedConnectionOptions } from './resolve-options.js';

/** One source of the credential. */
export interface Credential {
  readonly auth: AuthProvider;
  /** The key, or what the command prints. Never log or store it. */
  readonly read: () => Promise<string>;
  readonly source: 'apiKey' | 'command';
  readonly isToken: boolean;
}

type CredentialOptions = Pick<ResolvedConnectionOptions, 'apiKey' | 'credentialCommand' | 'storedApiKey' | 'isHosted' | 'clock'>;

/**
 * Chooses between the API key, the credential command and the stored key. The hosted service takes only keys that begin with `tml-`, or a
 * JWT; a self-hosted server takes anything, or nothing at all.
 *
 * @param isCommandRequired - Whether the server requires that the credential comes from the command.
 * @throws `ConfigurationError` when a credential is needed and there is none.
 */
export function chooseCredential(options: CredentialOptions, isCommandRequired = false): Credential | undefined {
  const { apiKey, credentialCommand: command, storedApiKey, isHosted, clock } = options;
  if (!isHosted && !isCommandRequired) {
    if (apiKey) return fromKey(apiKey);
    return command === undefined ? undefined : fromCommand(command, clock);
  }
  const selected = selectCredential({ apiKey, command, storedApiKey, isCommandRequired });
  return selected.source === 'apiKey' ? fromKey(selected.apiKey) : fromCommand(selected.command, clock);
}

/** The hosted service without token exchange takes only a key. */
export function requireKey(credential: Credential | undefined, isHosted: boolean): Credential | undefined {
  if (isHosted && credential?.source === 'command') {
    const message = 'This server takes an API key, not a credential command. Pass apiKey or set TINKER_API_KEY.';
    throw new ConfigurationError({ message, option: 'apiKey', environmentVariable: 'TINKER_API_KEY' });
  }
  return credential;
}

function fromKey(key: string): Credential {
  return { auth: apiKeyAuth(key), read: async () => key, source: 'apiKey', isToken: key.startsWith('eyJ') };
}

function fromCommand(command: string, clock: ResolvedConnectionOptions['clock']): Credential {
  const auth = credentialCommand(command, { clock });
  return { auth, read: () => auth.credential(), source: 'command', isToken: false };
}
