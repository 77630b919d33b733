import { createHash } from 'node:crypto';
import { startServer } from '../src/index.js';
import { forwardBackwardBody, optimBody, type RawAnswer, RawClient, sampleBody } from './raw-client.js';

const STEPS = 40;
const TOKENS = Array.from('the quick brown fox', (letter) => letter.charCodeAt(0));

/** What was acknowledged to a client, so that a restarted server can be held to it. */
export interface Acknowledged {
  sessionId: string;
  modelId: string;
  /** Calls that have been answered. */
  calls: number;
  /** Optimizer steps whose results have arrived. */
  steps: number;
  /** Whether a pass has arrived whose gradients no step has applied yet. */
  hasGradients: boolean;
  nextSeqId: number;
  /** Paths of checkpoints, and what they contain. */
  readonly checkpoints: Map<string, string>;
  samples: number;
  /** The operation that was on its way: it may have happened or not. */
  open: string | undefined;
}

/** A life of a training client of nothing but HTTP, one call after the other, which notes what was acknowledged. */
export class DurableLife {
  readonly acknowledged: Acknowledged = {
    sessionId: '',
    modelId: '',
    calls: 0,
    steps: 0,
    hasGradients: false,
    nextSeqId: 1,
    checkpoints: new Map(),
    samples: 0,
    open: undefined,
  };
  readonly #client: RawClient;

  constructor(client: RawClient) {
    this.#client = client;
  }

  async begin(): Promise<void> {
    const known = this.acknowledged;
    known.sessionId = await this.#client.createSession();
    known.modelId = await this.#client.createModel(known.sessionId);
  }

  /** One call: a pass, a step, a save or a sample, in an order that repeats. */
  async act(turn: number): Promise<void> {
    const known = this.acknowledged;
    const kind = (['pass', 'step', 'save', 'sample'] as const)[turn % 4] ?? 'pass';
    known.open = kind;
    if (kind === 'sample') await this.#sample(turn);
    else if (kind === 'save') await this.#save(turn);
    else await this.#train(kind);
    known.open = undefined;
    known.calls += 1;
  }

  async #train(kind: 'pass' | 'step'): Promise<void> {
    const known = this.acknowledged;
    const seqId = known.nextSeqId;
    const isPass = kind === 'pass';
    const body = isPass ? forwardBackwardBody(known.modelId, seqId, TOKENS) : optimBody(known.modelId, seqId);
    const { json } = await this.#client.post(isPass ? 'forward_backward' : 'optim_step', body);
    known.nextSeqId += 1;
    accept(await this.#client.result(json.request_id, isPass ? 'ForwardBackward' : 'OptimStep'));
    known.hasGradients = isPass;
    if (!isPass) known.steps += 1;
  }

  async #save(turn: number): Promise<void> {
    const known = this.acknowledged;
    const body = { model_id: known.modelId, path: `turn-${turn}`, seq_id: known.nextSeqId, overwrite: false, type: 'save_weights' };
    const { json } = await this.#client.post('save_weights', body);
    known.nextSeqId += 1;
    const { path } = accept(await this.#client.result(json.request_id, 'SaveWeights')).json;
    known.checkpoints.set(path, await archiveHash(this.#client, path));
  }

  async #sample(turn: number): Promise<void> {
    const known = this.acknowledged;
    const samplerId = await this.#client.createSampler(known.sessionId, turn);
    const { json } = await this.#client.sample(sampleBody(samplerId, 0));
    accept(await this.#client.result(json.request_id, 'Sample'));
    known.samples += 1;
  }
}

/** The loss after each number of steps, without a restart. */
export async function referenceLosses(): Promise<readonly number[]> {
  await using server = await startServer({ dialect: 'json' });
  const client = new RawClient(server);
  const modelId = await client.createModel(await client.createSession());
  const losses: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    losses.push(await loss(client, modelId, 2 * step + 1));
    const { json } = await client.post('optim_step', optimBody(modelId, 2 * step + 2));
    await client.result(json.request_id, 'OptimStep');
  }
  await client.close();
  return losses;
}

/**
 * Holds a restarted server to what was acknowledged. Returns what is missing or wrong: an empty list is success. Afterwards the
 * client resumes from a checkpoint if a call was open, and its next losses are those of a life without a restart.
 */
export async function brokenPromises(client: RawClient, known: Acknowledged, reference: readonly number[]): Promise<string[]> {
  const wrong: string[] = [];
  const { sessions } = (await client.get('sessions')).json;
  if (known.sessionId !== '' && !sessions.includes(known.sessionId)) wrong.push(`the session ${known.sessionId} is gone`);
  if (known.modelId === '') return wrong;
  const listed = (await client.get('checkpoints?limit=1000')).json.checkpoints.map((one: { tinker_path: string }) => one.tinker_path);
  for (const path of known.checkpoints.keys()) if (!listed.includes(path)) wrong.push(`the checkpoint ${path} is gone`);
  const [last] = [...known.checkpoints].reverse();
  if (last !== undefined && (await archiveHash(client, last[0])) !== last[1]) wrong.push(`the checkpoint ${last[0]} has changed`);

  let seqId = known.nextSeqId + 1;
  // The call that was open may have taken the next sequence ID: it is resubmitted, as a client does, and its future may be gone.
  if (known.open !== undefined) {
    const again = await client.post('optim_step', { ...optimBody(known.modelId, known.nextSeqId), adam_params: { learning_rate: 0 } });
    if (again.status === 200) await client.result(again.json.request_id, 'OptimStep');
  } else {
    seqId -= 1;
  }
  if (known.open === undefined) {
    if (known.hasGradients) {
      const { json } = await client.post('optim_step', optimBody(known.modelId, seqId++));
      await client.result(json.request_id, 'OptimStep');
    }
    const found = await loss(client, known.modelId, seqId++);
    const wanted = reference[known.steps + (known.hasGradients ? 1 : 0)];
    if (found !== wanted) wrong.push(`after ${known.steps} steps the loss is ${found}, not ${wanted}`);
  } else if (last !== undefined) {
    const body = { model_id: known.modelId, path: last[0], optimizer: true, seq_id: seqId++, type: 'load_weights' };
    const { json } = await client.post('load_weights', body);
    const loaded = await client.result(json.request_id, 'LoadWeights');
    const found = loaded.status === 200 ? await loss(client, known.modelId, seqId++) : loaded.text;
    const step = Number(/turn-(\d+)/.exec(last[0])?.[1]) >> 2;
    if (found !== reference[step + 1]) wrong.push(`resumed from ${last[0]}, the loss is ${found}, not ${reference[step + 1]}`);
  }
  return wrong;
}

async function loss(client: RawClient, modelId: string, seqId: number): Promise<number> {
  const { json } = await client.post('forward_backward', forwardBackwardBody(modelId, seqId, TOKENS));
  return accept(await client.result(json.request_id, 'ForwardBackward')).json.metrics['loss:sum'];
}

async function archiveHash(client: RawClient, path: string): Promise<string> {
  const [, modelId, name] = /^tinker:\/\/([^/]+)\/(.*)$/.exec(path) ?? [];
  const { headers } = await client.get(`training_runs/${modelId}/checkpoints/${name}/archive`);
  const { pathname, search } = new URL(String(headers['location']));
  const archive = accept(await client.call('GET', `${pathname}${search}`));
  return createHash('sha256').update(archive.bytes).digest('hex');
}

function accept(answer: RawAnswer): RawAnswer {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}
