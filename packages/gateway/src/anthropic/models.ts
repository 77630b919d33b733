import type { GatewayContext } from '../generation/gateway-context.js';

/** `GET /v1/models` for a client of Anthropic. */
export async function listAnthropicModels({ models }: GatewayContext): Promise<Response> {
  const data = (await models.list()).map((id) => ({ type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }));
  return Response.json({ data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null });
}
