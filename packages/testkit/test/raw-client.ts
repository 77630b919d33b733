import { Agent, request } from 'undici';
import type { TestServer } from '../src/index.js';

/** An answer as it came over the socket. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Uint8Array;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of any shape
  readonly json: any;
}

export interface RawOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly apiKey?: string;
  readonly signal?: AbortSignal;
}

/** Where a server is, in this process or another. */
type Served = Pick<TestServer, 'url' | 'apiKey'>;

/** A client of nothing but HTTP: what the protocol pages say is written out here, on purpose without the SDK. */
export class RawClient {
  readonly #server: Served;
  readonly #agent = new Agent({ connections: 256, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });
  readonly apiKey: string;
  #keys = 0;

  constructor(server: Served, apiKey: string = server.apiKey) {
    this.#server = server;
    this.apiKey = apiKey;
  }

  async call(method: string, path: string, options: RawOptions = {}): Promise<RawAnswer> {
    const { body, apiKey = this.apiKey } = options;
    const headers: Record<string, string | undefined> = {
      accept: 'application/json',
      'x-api-key': apiKey,
      ...(method === 'GET' ? {} : { 'x-idempotency-key': `test-${this.#keys++}`, 'content-type': 'application/json' }),
      ...options.headers,
    };
    const sent = body === undefined ? undefined : body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body);
    const {
      statusCode,
      headers: received,
      body: stream,
    } = await request(`${this.#server.url}${path}`, {
      method,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<string, string>,
      ...(sent === undefined ? {} : { body: sent }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      dispatcher: this.#agent,
    } as Parameters<typeof request>[1]);
    const bytes = new Uint8Array(await stream.arrayBuffer());
    const text = Buffer.from(bytes).toString('utf8');
    const isJson = String(received['content-type'] ?? '').includes('json');
    return { status: statusCode, headers: received, bytes, text, json: isJson ? JSON.parse(text) : undefined };
  }

  get(path: string, options: RawOptions = {}): Promise<RawAnswer> {
    return this.call('GET', `/api/v1/${path}`, options);
  }

  post(path: string, body: unknown, options: RawOptions = {}): Promise<RawAnswer> {
    return this.call('POST', `/api/v1/${path}`, { body, ...options });
  }

  sample(body: unknown, options: RawOptions = {}): Promise<RawAnswer> {
    return this.post('asample', body, { ...options, headers: { 'x-tinker-sampling-backpressure': '1', ...options.headers } });
  }

  /** One poll. */
  poll(
    requestId: string,
    requestType: string,
    iteration = 0,
    options: RawOptions & { readonly allowMetadataOnly?: boolean } = {},
  ): Promise<RawAnswer> {
    const { allowMetadataOnly = true, ...rest } = options;
    const isBulk = ['Sample', 'Forward', 'ForwardBackward'].includes(requestType);
    return this.post(
      'retrieve_future',
      { request_id: requestId, allow_metadata_only: allowMetadataOnly },
      {
        ...rest,
        headers: {
          accept: isBulk ? 'application/x-protobuf' : 'application/json',
          'x-tinker-request-iteration': String(iteration),
          'x-tinker-request-type': requestType,
          ...(iteration === 0 ? { 'x-tinker-create-promise-roundtrip-time': '0.001' } : {}),
          ...rest.headers,
        },
      },
    );
  }

  /** Polls until the promise is no longer pending, at most 100 times. */
  async result(requestId: string, requestType: string): Promise<RawAnswer> {
    for (let iteration = 0; iteration < 100; iteration++) {
      const answer = await this.poll(requestId, requestType, iteration);
      if (answer.status !== 408 && answer.json?.type !== 'try_again') return answer;
    }
    throw new Error(`${requestId} is still pending`);
  }

  async createSession(): Promise<string> {
    const { json } = await this.post('create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0', type: 'create_session' });
    return json.session_id;
  }

  async createModel(sessionId: string, modelSeqId = 0, rank = 4, baseModel = 'tinkex/tiny'): Promise<string> {
    const lora = { rank, seed: 1, train_unembed: true, train_mlp: true, train_attn: true };
    const body = { session_id: sessionId, model_seq_id: modelSeqId, base_model: baseModel, lora_config: lora, type: 'create_model' };
    const { json } = await this.post('create_model', body);
    return (await this.result(json.request_id, 'CreateModel')).json.model_id;
  }

  async createSampler(sessionId: string, samplingSessionSeqId = 0): Promise<string> {
    const body = {
      session_id: sessionId,
      sampling_session_seq_id: samplingSessionSeqId,
      base_model: 'tinkex/tiny',
      type: 'create_sampling_session',
    };
    return (await this.post('create_sampling_session', body)).json.sampling_session_id;
  }

  /** Another client of the same server, with separate connections. */
  sibling(apiKey: string = this.apiKey): RawClient {
    return new RawClient(this.#server, apiKey);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

export function sampleBody(
  samplerId: string,
  seqId: number | bigint,
  extra: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    num_samples: 1,
    prompt: { chunks: [{ tokens: [5, 6, 7], type: 'encoded_text' }] },
    sampling_params: { max_tokens: 4, temperature: 1, top_k: -1, top_p: 1 },
    sampling_session_id: samplerId,
    seq_id: seqId,
    prompt_logprobs: false,
    topk_prompt_logprobs: 0,
    type: 'sample',
    ...extra,
  };
}

export function optimBody(modelId: string, seqId: number, learningRate = 0.01): Record<string, unknown> {
  return {
    adam_params: { learning_rate: learningRate, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0, grad_clip_norm: 0 },
    model_id: modelId,
    seq_id: seqId,
    type: 'optim_step',
  };
}

/** The JSON dialect's body. */
export function forwardBackwardBody(modelId: string, seqId: number, tokens: readonly number[] = [1, 2, 3, 4]): Record<string, unknown> {
  const inputs = tokens.slice(0, -1);
  const targets = tokens.slice(1);
  return {
    model_id: modelId,
    seq_id: seqId,
    type: 'forward_backward',
    forward_backward_input: {
      loss_fn: 'cross_entropy',
      data: [
        {
          model_input: { chunks: [{ type: 'encoded_text', tokens: inputs }] },
          loss_fn_inputs: {
            target_tokens: { data: targets, dtype: 'int64', shape: [targets.length] },
            weights: { data: targets.map(() => 1), dtype: 'float32', shape: [targets.length] },
          },
        },
      ],
    },
  };
}
