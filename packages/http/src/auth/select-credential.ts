import { ConfigurationError } from '@tinkex/types';

/** Where a credential might come from. Empty text counts as absent. */
export interface CredentialSources {
  /** Given in code. */
  readonly apiKey?: string | undefined;
  /** The value of `TINKER_API_KEY`. */
  readonly environmentApiKey?: string | undefined;
  /** The value of `TINKER_CREDENTIAL_CMD`, or a command given in code. */
  readonly command?: string | undefined;
  /** The server's configuration requires the command. Default false. */
  readonly isCommandRequired?: boolean | undefined;
}

/** The source that is used. */
export type SelectedCredential =
  | { readonly source: 'apiKey'; readonly apiKey: string }
  | { readonly source: 'command'; readonly command: string };

/**
 * Chooses the source of the credential. A key must start with `tml-`, or be a JSON Web Token (`eyJ…`); the command is the
 * fallback, unless the server requires it: then only a token given as the key replaces it.
 *
 * @throws ConfigurationError when there is nothing usable. The message does not show the key.
 */
export function selectCredential({ apiKey, environmentApiKey, command, isCommandRequired = false }: CredentialSources): SelectedCredential {
  const key = apiKey || environmentApiKey || '';
  const isToken = key.startsWith('eyJ');
  if (isToken || (!isCommandRequired && key.startsWith('tml-'))) return { source: 'apiKey', apiKey: key };
  if (command) return { source: 'command', command };
  throw new ConfigurationError({ ...missing(key, isCommandRequired) });
}

function missing(key: string, isCommandRequired: boolean): { message: string; option: string; environmentVariable: string } {
  if (isCommandRequired) {
    const message = 'The server requires a credential command: set TINKER_CREDENTIAL_CMD, or pass a token as the API key.';
    return { message, option: 'credentialCommand', environmentVariable: 'TINKER_CREDENTIAL_CMD' };
  }
  const message =
    key === ''
      ? 'No credential: pass apiKey, or set TINKER_API_KEY or TINKER_CREDENTIAL_CMD.'
      : 'The API key must start with tml- (or be a token that starts with eyJ). Check apiKey and TINKER_API_KEY.';
  return { message, option: 'apiKey', environmentVariable: 'TINKER_API_KEY' };
}
