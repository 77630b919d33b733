import { ConfigurationError } from '@tinkex/types';
import { chooseCredential } from '../connection/credentials.js';
import type { ResolvedConnectionOptions } from '../connection/resolve-options.js';

/** What the official clients of OpenAI and Anthropic need to reach the chat endpoints of the service. Never log it: it has the key. */
export interface ChatClientOptions {
  readonly baseURL: string;
  readonly apiKey: string;
}

/** The model to talk to: weights, a base model, or weights with the base model to load them on. */
export interface ChatModel {
  readonly baseModel?: string | undefined;
  /** `tinker://…/sampler_weights/…` */
  readonly modelPath?: string | undefined;
}

/** The options of a client together with the name of the model, for the requests. */
export interface NamedChatClientOptions extends ChatClientOptions {
  readonly model: string;
}

/** Where the service answers the APIs of others, below its base URL. */
const CHAT_PATHS = { openai: '/oai/api/v1', anthropic: '/anthropic/api' } as const;

type ChatApi = keyof typeof CHAT_PATHS;

/** The options of a client of another API. Throws `ConfigurationError` when there is no key, or only a token that expires, and for a model without a name. */
export async function chatClientOptions(
  options: ResolvedConnectionOptions,
  api: ChatApi,
  model: ChatModel | undefined,
): Promise<ChatClientOptions & Partial<NamedChatClientOptions>> {
  const credential = chooseCredential(options);
  if (credential === undefined || credential.isToken) {
    const problem = credential === undefined ? 'there is none' : 'this is a token, which expires';
    const message = `The chat endpoints take an API key, and ${problem}. Pass apiKey or set TINKER_API_KEY.`;
    throw new ConfigurationError({ message, option: 'apiKey', environmentVariable: 'TINKER_API_KEY' });
  }
  const named = model === undefined ? {} : { model: modelNameFor(api, model) };
  return { baseURL: `${options.baseUrl}${CHAT_PATHS[api]}`, apiKey: await credential.read(), ...named };
}

/** As the endpoint wants it: only OpenAI's takes a base model and a path together. */
function modelNameFor(api: ChatApi, { baseModel, modelPath }: ChatModel): string {
  const name =
    baseModel !== undefined && modelPath !== undefined && api === 'openai' ? `${baseModel};${modelPath}` : (modelPath ?? baseModel);
  if (name !== undefined) return name;
  throw new ConfigurationError({ option: 'baseModel', message: 'Name the model to talk to: pass modelPath, baseModel, or both.' });
}
