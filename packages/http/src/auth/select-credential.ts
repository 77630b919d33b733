import { ConfigurationError } from '@tinkex/types';

/** Where a credential might come from. Empty text counts as absent. */
export interface CredentialSources {
  /** Given in code. */
  readonly apiKey?: string | undefined;
  /** The value of `TINKER_API_KEY`. */
  readonly environmentApiKey?: string | undefined;
  /** The value of `TINKER_CREDENTIAL_CMD`, or a command given in code. */
  readonly command?: string | undefined;
  /** The default key of the credentials file. Only a missing key and a missing command lead to it, never an invalid key. */
  readonly storedApiKey?: string | undefined;
  /** The server's configuration requires the command. Default false. */
  readonly isCommandRequired?: boolean | undefined;
}

/** The source that is used. */
export type SelectedCredential =
  | { readonly source: 'apiKey'; readonly apiKey: string }
  | { readonly source: 'command'; readonly command: string };

/**
 * Chooses the source of the credential. A key must start with `tml-`, or be a JSON Web Token (`eyJ…`); the command is the
 * fallback, unless the server requires it: then only a token given as the key replaces it. Without a key and a command, the
 * stored key is used.
 *
 * @throws ConfigurationError when there is nothing usable. The message does not show the key.
 */
export function selectCredential(sources: CredentialSources): SelectedCredential {
  const { apiKey, environmentApiKey, command, storedApiKey = '', isCommandRequired = false } = sources;
  const key = apiKey || environmentApiKey || '';
  if (isToken(key) || (!isCommandRequired && isKey(key))) return { source: 'apiKey', apiKey: key };
  if (command) return { source: 'command', command };
  if (isCommandRequired) throw commandRequired();
  if (key === '' && (isKey(storedApiKey) || isToken(storedApiKey))) return { source: 'apiKey', apiKey: storedApiKey };
  throw keyRequired(key, storedApiKey);
}

function isKey(key: string): boolean {
  return key.startsWith('tml-');
}

function isToken(key: string): boolean {
  return key.startsWith('eyJ');
}

function commandRequired(): ConfigurationError {
  const message = 'The server requires a credential command: set TINKER_CREDENTIAL_CMD, or pass a token as the API key.';
  return new ConfigurationError({ message, option: 'credentialCommand', environmentVariable: 'TINKER_CREDENTIAL_CMD' });
}

function keyRequired(key: string, storedKey: string): ConfigurationError {
  const rule = 'must start with tml- (or be a token that starts with eyJ)';
  let message = 'No credential: pass apiKey, set TINKER_API_KEY or TINKER_CREDENTIAL_CMD, or run `tinker auth login`.';
  if (key !== '') message = `The API key ${rule}. Check apiKey and TINKER_API_KEY.`;
  else if (storedKey !== '') message = `The default key of the credentials file ${rule}. Check ~/.tinker/credentials.json.`;
  return new ConfigurationError({ message, option: 'apiKey', environmentVariable: 'TINKER_API_KEY' });
}
