import { fieldsOf, float32, int32, int64, message } from './protobuf-bytes.js';
import { jsonMessage, type Message, type RawRequest } from './raw-server.js';

interface Operation {
  readonly requestId: string;
  /** What was requested, to recognize a repeat with other content. */
  readonly content: string;
  readonly result: Message;
}

/**
 * What an honest server answers, in as few lines as will do. Every result follows from the content of its request, so that a result at the
 * wrong caller shows: a pass gives the negative first token of each datum, a sample the first token of its prompt plus one.
 */
export class HonestService {
  readonly config: Readonly<Record<string, unknown>>;
  /** Sequence IDs in order of acceptance, by model or sampler. */
  readonly accepted = new Map<string, number[]>();
  /** What a client must not do. */
  readonly wrong: string[] = [];
  readonly #operations = new Map<string, Operation>();
  readonly #byRequestId = new Map<string, Operation>();

  constructor(config: Readonly<Record<string, unknown>> = {}) {
    this.config = config;
  }

  /** The answer to a request; it is executed now. */
  answer({ path, body, headers }: RawRequest): Message {
    const route = (path.split('?')[0] ?? '').replace('/api/v1/', '');
    const read = (): Record<string, unknown> => JSON.parse(body.toString() || '{}') as Record<string, unknown>;
    switch (route) {
      case 'client/config':
        return jsonMessage(this.config);
      case 'client/dynamic_config':
      case 'session_heartbeat':
      case 'cancel_future':
        return jsonMessage({});
      case 'telemetry':
        return jsonMessage({ status: 'accepted' });
      case 'get_server_capabilities':
        return jsonMessage({ supported_models: [{ model_name: 'base', max_context_length: 1024 }] });
      case 'create_session':
        return jsonMessage({ session_id: 'S' });
      case 'create_sampling_session':
        return jsonMessage({ sampling_session_id: `S:sample:${read()['sampling_session_seq_id']}` });
      case 'create_model':
        return this.#accept(`S:${read()['model_seq_id']}`, 0, '', jsonMessage({ model_id: `S:train:${read()['model_seq_id']}` }));
      case 'asample':
        return this.#sample(read());
      case 'forward_backward':
      case 'forward':
        return headers['content-type'] === 'application/json' ? jsonMessage({ detail: 'protobuf only' }, 415) : this.#pass(body);
      case 'optim_step':
        return this.#train(read(), jsonMessage({ metrics: { 'lr:mean': 1 } }));
      case 'load_weights':
        return this.#train(read(), jsonMessage({}));
      case 'save_weights':
      case 'save_weights_for_sampler':
        return this.#train(read(), jsonMessage({ path: `tinker://S:train:0/weights/${read()['path']}` }));
      case 'retrieve_future':
        return this.#byRequestId.get(String(read()['request_id']))?.result ?? jsonMessage({ detail: 'no such promise' }, 404);
      default:
        return route.endsWith('/finish') ? jsonMessage({}) : jsonMessage({ detail: `no route ${route}` }, 404);
    }
  }

  #train(body: Record<string, unknown>, result: Message): Message {
    return this.#accept(String(body['model_id']), Number(body['seq_id']), JSON.stringify(body), result);
  }

  #pass(body: Buffer): Message {
    const fields = fieldsOf(body);
    const modelId = Buffer.from((fields.find(({ number }) => number === 1)?.value ?? '') as Uint8Array).toString();
    const seqId = Number(fields.find(({ number }) => number === 2)?.value);
    const firstTokens = fields.filter(({ number }) => number === 3).map(({ value }) => firstToken(value as Uint8Array));
    return this.#accept(modelId, seqId, body.toString('latin1'), protobufMessage(passOutput(firstTokens)));
  }

  #sample(body: Record<string, unknown>): Message {
    const {
      prompt,
      num_samples: count = 1,
      seq_id: seqId,
      sampling_session_id: session,
    } = body as never as {
      prompt: { chunks: { tokens: number[] }[] };
      num_samples?: number;
      seq_id: number;
      sampling_session_id: string;
    };
    const first = prompt.chunks[0]?.tokens[0] ?? 0;
    return this.#accept(session, seqId, JSON.stringify(prompt), protobufMessage(sampleOutput(first + 1, count)));
  }

  #accept(owner: string, seqId: number, content: string, result: Message): Message {
    const key = `${owner}/${seqId}`;
    let operation = this.#operations.get(key);
    if (operation === undefined) {
      operation = { requestId: `request-${key}`, content, result };
      this.#operations.set(key, operation);
      this.#byRequestId.set(operation.requestId, operation);
      this.accepted.set(owner, [...(this.accepted.get(owner) ?? []), seqId]);
    } else if (operation.content !== content) this.wrong.push(`${key} came again with other content`);
    return jsonMessage({ request_id: operation.requestId });
  }
}

export function protobufMessage(body: Uint8Array): Message {
  return { headers: { 'content-type': 'application/x-protobuf' }, body };
}

/** `ForwardBackwardOutput` with one log-probability for each datum: its negative first token. */
export function passOutput(firstTokens: readonly number[]): Buffer {
  const offsets = int64(...Array.from({ length: firstTokens.length + 1 }, (_, index) => index * 4));
  const tensor = message([1, float32(...firstTokens.map((token) => -token))], [2, offsets], [3, 1]);
  const record = message([1, 'ArrayRecord'], [2, message([1, 'logprobs'], [2, tensor])], [3, firstTokens.length]);
  const total = firstTokens.reduce((sum, token) => sum + token, 0);
  return message([1, 'ArrayRecord'], [2, record], [3, message([1, 'loss:sum'], [2, { double: total }])]);
}

/** `SampleResponse` of sequences that all start with the same token and end with their number. */
export function sampleOutput(first: number, count: number): Buffer {
  const sequences = Array.from({ length: count }, (_, index) => message([1, 1], [2, int32(first, index)], [3, float32(-1, -2)]));
  return message(...sequences.map((sequence) => [1, sequence] as const));
}

function firstToken(datum: Uint8Array): number {
  const chunk = fieldsOf(datum).find(({ number }) => number === 1)?.value as Uint8Array;
  const text = fieldsOf(chunk)[0]?.value as Uint8Array;
  const tokens = Buffer.from(fieldsOf(text)[0]?.value as Uint8Array);
  return tokens.readInt32LE(0);
}
