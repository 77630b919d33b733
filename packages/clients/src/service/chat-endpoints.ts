import { ConfigurationError } from '@tinkex/types';
import { chooseCredential } from '../connection/credentials.js';
import type { ResolvedConnectionOptions } from '../connection/resolve-options.js';

/** What the official clients of OpenAI and Anthropic need to reach the chat endpoints of the service. Never log it: it has the key. */
export interface ChatClientOptions {
  readonly baseURL: string;
  readonly apiKey: string;
}

/** Where the service answers the APIs of others, below its base URL. */
const CHAT_PATHS = { openai: '/oai/api/v1', anthropic: '/anthropic/api' } as const;

/** The options of a client of another API. Throws `ConfigurationError` when there is no key, or only a token that expires. */
export async function chatClientOptions(options: ResolvedConnectionOptions, api: keyof typeof CHAT_PATHS): Promise<ChatClientOptions> {
  const credential = chooseCredential(options);
  if (credential === undefined || credential.isToken) {
    const problem = credential === undefined ? 'there is none' : 'this is a token, which expires';
    const message = `The chat endpoints take an API key, and ${problem}. Pass apiKey or set TINKER_API_KEY.`;
    throw new ConfigurationError({ message, option: 'apiKey', environmentVariable: 'TINKER_API_KEY' });
  }
  return { baseURL: `${options.baseUrl}${CHAT_PATHS[api]}`, apiKey: await credential.read() };
}
