import { type FetchServer, type FetchServerOptions, startFetchServer } from '@tinkex/http/server';
import { createGateway, type GatewayOptions } from './gateway.js';

/** Options of {@link startGateway}. */
export interface StartGatewayOptions extends GatewayOptions, FetchServerOptions {
  /** The keys that clients may use. Default: one random key, in {@link RunningGateway.apiKey}. */
  readonly apiKeys?: readonly string[] | undefined;
}

/** A gateway on a port. */
export interface RunningGateway extends FetchServer {
  /** The first key that clients may use. */
  readonly apiKey: string;
}

/**
 * Starts a gateway, by default on loopback.
 *
 * @example
 * ```ts
 * import { startGateway } from '@tinkex/gateway';
 * import type { Renderer, Sampler } from '@tinkex/renderers';
 *
 * export async function serve(sampler: Sampler, renderer: Renderer) {
 *   const gateway = await startGateway({ models: { 'my-model': { sampler, renderer } } });
 *   console.log(`OPENAI_BASE_URL=${gateway.url}/v1 OPENAI_API_KEY=${gateway.apiKey}`);
 *   return gateway;
 * }
 * ```
 */
export async function startGateway(options: StartGatewayOptions): Promise<RunningGateway> {
  const apiKeys = options.apiKeys ?? [`tinkex-${crypto.randomUUID().replaceAll('-', '')}`];
  const server = await startFetchServer(createGateway({ ...options, apiKeys }), options);
  return { ...server, apiKey: apiKeys[0] ?? '' };
}
