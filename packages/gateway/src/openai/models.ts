import { GatewayFailure } from '../failure.js';
import type { GatewayContext } from '../generation/gateway-context.js';

/** `GET /v1/models` */
export async function listModels({ models }: GatewayContext): Promise<Response> {
  const names = await models.list();
  return Response.json({ object: 'list', data: names.map(encodeModel) });
}

/** `GET /v1/models/{name}` */
export async function retrieveModel({ models }: GatewayContext, name: string): Promise<Response> {
  if ((await models.find(name)) === undefined) {
    throw new GatewayFailure('not_found', `The model \`${name}\` does not exist here.`, { param: 'model' });
  }
  return Response.json(encodeModel(name));
}

function encodeModel(id: string) {
  return { id, object: 'model', created: 0, owned_by: 'tinkex' };
}
