import { serverProtobuf, VirtualClock } from '@tinkex/testkit';
import { TensorData } from '@tinkex/types';
import { ServiceClient, type ServiceClientOptions, type TrainingClient } from '../../src/index.js';
import { type ScriptedAnswer, ScriptedTransport, type SeenRequest } from './scripted-transport.js';

export type Route = (request: SeenRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A hand-written server: every answer is the test's own, by the last part of the path. */
export interface MiniServer {
  readonly clock: VirtualClock;
  readonly transport: ScriptedTransport;
  readonly service: ServiceClient;
  readonly routes: Map<string, Route>;
  /** The training sequence IDs of the submissions, in order of arrival. */
  submittedSeqIds(): number[];
  training(): Promise<TrainingClient>;
}

const SUBMITS = ['forward_backward', 'forward', 'optim_step', 'save_weights', 'load_weights', 'save_weights_for_sampler', 'unload_model'];

export function miniServer(
  config: Record<string, unknown> = {},
  options: Partial<ServiceClientOptions> = {},
  clock: VirtualClock = new VirtualClock(),
): MiniServer {
  const routes = new Map<string, Route>([
    ['client/config', () => ({ status: 200, body: config })],
    ['client/dynamic_config', () => ({ status: 200, body: {} })],
    ['create_session', () => ({ status: 200, body: { session_id: 'S' } })],
    ['session_heartbeat', () => ({ status: 200, body: {} })],
    ['create_model', () => ({ status: 200, body: { request_id: 'create' } })],
    ['retrieve_future', resultFor],
    ...SUBMITS.map((name): [string, Route] => [name, (request) => ({ status: 200, body: { request_id: `${name}-${seqIdOf(request)}` } })]),
  ]);
  const transport = new ScriptedTransport(clock, (request) => {
    const route = routes.get(request.path.replace('/api/v1/', ''));
    return route === undefined ? { status: 404, body: { detail: `no route ${request.path}` } } : route(request);
  });
  const service = new ServiceClient({ baseUrl: 'http://server.test', apiKey: 'any', transport, clock, random: () => 0, ...options });
  return {
    clock,
    transport,
    service,
    routes,
    submittedSeqIds: () => transport.seen.filter(({ path }) => SUBMITS.some((name) => path.endsWith(`/${name}`))).map(seqIdOf),
    training: () => clock.runUntil(service.createLoraTrainingClient({ baseModel: 'base' })),
  };
}

/** The sequence ID of a submission in either wire format. */
export function seqIdOf({ headers, body, bytes }: SeenRequest): number {
  if (headers['content-type'] === 'application/x-protobuf')
    return serverProtobuf.forwardBackwardRequest.decode(bytes as Uint8Array).seqId ?? 0;
  return (body as { seq_id?: number }).seq_id ?? 0;
}

/** A result of one datum with these logprobs. */
export function passResult(logprobs: readonly number[][], metrics: Record<string, number> = {}): ScriptedAnswer {
  const bytes = serverProtobuf.forwardBackwardOutput.encode({
    lossFnOutputType: 'ArrayRecord',
    lossFnOutputs: logprobs.map((values) => ({ logprobs: TensorData.fromArray(values, 'float32') })),
    metrics,
  });
  return { status: 200, content_type: 'application/x-protobuf', body: bytes };
}

function resultFor({ body }: SeenRequest): ScriptedAnswer {
  const { request_id } = body as { request_id: string };
  if (request_id === 'create') return { status: 200, body: { model_id: 'S:train:0' } };
  if (request_id.startsWith('forward')) return passResult([[-1]], { 'loss:sum': 1 });
  if (request_id.startsWith('save')) return { status: 200, body: { path: `tinker://S:train:0/weights/${request_id}` } };
  return { status: 200, body: {} };
}
