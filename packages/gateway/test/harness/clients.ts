import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { createGateway, type GatewayOptions } from '../../src/index.js';

const API_KEY = 'gateway-test-key';

/** The official clients, wired to a gateway without a socket. */
export function officialClients(options: GatewayOptions, apiKey = API_KEY) {
  const gateway = createGateway({ apiKeys: [API_KEY], ...options });
  const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => gateway(new Request(input, init));
  return {
    gateway,
    openai: new OpenAI({ baseURL: 'http://localhost/v1', apiKey, fetch, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: 'http://localhost', apiKey, authToken: null, fetch, maxRetries: 0 }),
  };
}
