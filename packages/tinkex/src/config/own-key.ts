import type { SelfApiKeyResponse } from '@tinkex/types/wire';
import type { CommandContext } from '../commands/command-context.js';

/** Asks the server what it knows about a key. Makes one request. */
export async function describeKey(context: CommandContext, key: string): Promise<SelfApiKeyResponse> {
  const { endpoints } = await import('@tinkex/types/wire');
  const { path, response } = endpoints.getOwnApiKey;
  return await withKey(context, key, (client) => client.request({ method: 'GET', path, schema: response, signal: context.signal }));
}

/** Has the server revoke a key. */
export async function revokeKey(context: CommandContext, key: string): Promise<void> {
  const { endpoints } = await import('@tinkex/types/wire');
  const { path } = endpoints.revokeOwnApiKey;
  await withKey(context, key, (client) => client.request({ method: 'DELETE', path, parse: () => undefined, signal: context.signal }));
}

async function withKey<T>(
  context: CommandContext,
  key: string,
  work: (client: import('@tinkex/http').HttpClient) => PromiseLike<T>,
): Promise<T> {
  const [{ apiKeyAuth, HttpClient }, { ServiceClient }] = await Promise.all([import('@tinkex/http'), import('@tinkex/clients')]);
  const service = new ServiceClient({ baseUrl: context.globals.baseUrl, apiKey: key });
  await using client = new HttpClient({ baseUrl: service.baseUrl, auth: apiKeyAuth(key), maxRetries: 0, attemptTimeoutMs: 30_000 });
  return await work(client);
}
