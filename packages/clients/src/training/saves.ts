import { type Checkpoint, ConflictError, FutureExpiredError, type SaveWeightsResponse, TinkexError, ValidationError } from '@tinkex/types';
import { mayHaveHappened } from '../calls/attempt-failure.js';
import type { ApiFuture } from '../futures/api-future.js';
import { type OngoingCall, RunningCall } from '../futures/running-call.js';
import { pollResult, submitOperation, type TrainedModel } from './operations.js';
import type { SavedSamplerWeights, SaveStateOptions, SaveWeightsForSamplerOptions } from './training-options.js';

/** The clocks of the server and of this machine may differ by this much in either direction. */
const CLOCK_TOLERANCE_MS = 60_000;
/** How long after its end a save is remembered. */
const REMEMBERED_MS = 2 * CLOCK_TOLERANCE_MS;

/** A save, from its call to its end. */
interface Save {
  readonly requestType: 'SaveWeights' | 'SaveWeightsForSampler';
  readonly kind: 'weights' | 'sampler_weights';
  /** The checkpoint's name. */
  readonly name: string;
  readonly ttlSeconds: number | undefined;
  readonly overwrite: boolean | undefined;
  /** Earlier saves under the same name that this one could be mistaken for. */
  earlier: readonly Save[];
  endedAtMs: number | undefined;
}

/**
 * Saves the weights of one model. An attempt whose answer was lost may have been accepted, and the result of an accepted save may be lost.
 * The list of checkpoints then decides: if the checkpoint exists and is new, the save is done. Nothing is saved twice, and a save that
 * exists is not reported as failed. A name may be used again (`overwrite`), and the list distinguishes two saves by their time alone; so
 * the recent saves of the model are remembered.
 */
export class Saves {
  readonly #model: TrainedModel;
  #recent: Save[] = [];

  constructor(model: TrainedModel) {
    this.#model = model;
  }

  /** Saves weights and optimizer state. */
  saveState(name: string, options: SaveStateOptions): ApiFuture<SaveWeightsResponse> {
    const { ttlSeconds, overwrite = false } = options;
    const call = new RunningCall<{ readonly path: string }>(this.#model.parts.runtime, 'SaveWeights', options);
    const save = { requestType: 'SaveWeights', kind: 'weights', name, ttlSeconds, overwrite, earlier: [], endedAtMs: undefined } as const;
    return call.settleWith(this.#run(call, { ...save }));
  }

  /** Saves weights to sample from. */
  saveWeightsForSampler(name: string, options: SaveWeightsForSamplerOptions): ApiFuture<SavedSamplerWeights> {
    const { ttlSeconds } = options;
    const requestType = 'SaveWeightsForSampler';
    const call = new RunningCall<{ readonly path: string }>(this.#model.parts.runtime, requestType, options);
    const save: Save = { requestType, kind: 'sampler_weights', name, ttlSeconds, overwrite: undefined, earlier: [], endedAtMs: undefined };
    return call.settleWith(this.#run(call, save));
  }

  async #run(call: OngoingCall, save: Save): Promise<{ path: string }> {
    const turn = this.#model.reserve(call);
    this.#remember(save);
    try {
      let submission: Submission;
      try {
        await turn.start(call.signal);
        submission = await this.#submit(call, save, turn.seqIds[0] as number);
      } finally {
        turn.end();
      }
      const path = 'path' in submission ? submission.path : await this.#pollPath(call, save, submission.requestId);
      this.#model.publishCheckpoint('tinkex:checkpoint:save', call, path);
      return { path };
    } finally {
      save.endedAtMs = this.#model.parts.runtime.clock.now();
    }
  }

  #remember(save: Save): void {
    const oldestMs = this.#model.parts.runtime.clock.now() - REMEMBERED_MS;
    this.#recent = this.#recent.filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > oldestMs);
    save.earlier = this.#recent.filter(({ kind, name }) => kind === save.kind && name === save.name);
    this.#recent.push(save);
  }

  /** Submits until the server accepts, or until the save turns out to be done. A 409 to the very first attempt is an ordinary conflict. */
  async #submit(call: OngoingCall, save: Save, seqId: number): Promise<Submission> {
    const { parts, modelId } = this.#model;
    const { requestType, name: path, ttlSeconds, overwrite } = save;
    const body = { modelId, path, seqId, ttlSeconds, ...(requestType === 'SaveWeights' ? { overwrite } : {}) };
    let isAmbiguous = false;
    const submitOnce = async (): Promise<Submission> => {
      try {
        return { requestId: await submitOperation(parts, requestType, body, { ...call.step, hasOuterRetry: false }) };
      } catch (error) {
        const found = isAmbiguous && ConflictError.isInstance(error) ? await this.#findSaved(call, save) : undefined;
        if (found !== undefined) return { path: found };
        isAmbiguous ||= mayHaveHappened({ error });
        throw error;
      }
    };
    try {
      return await parts.calls.retry(submitOnce, { operation: 'save', signal: call.signal });
    } catch (error) {
      const found = isAmbiguous && !call.signal.aborted ? await this.#findSaved(call, save) : undefined;
      if (found !== undefined) return { path: found };
      throw error;
    }
  }

  async #pollPath(call: OngoingCall, save: Save, requestId: string): Promise<string> {
    call.accept([requestId]);
    try {
      const { path } = await pollResult(this.#model.parts, call, save.requestType, requestId);
      return path ?? missingPath(save);
    } catch (error) {
      const found = FutureExpiredError.isInstance(error) ? await this.#findSaved(call, save) : undefined;
      if (found === undefined) throw error;
      return found;
    }
  }

  /** The path of the checkpoint if it was saved since this call began. A list that cannot be fetched decides nothing. */
  async #findSaved(call: OngoingCall, save: Save): Promise<string | undefined> {
    const { parts, modelId } = this.#model;
    const { signal, headers, startedAtMs } = call;
    const { kind, name } = save;
    let checkpoints: readonly Checkpoint[];
    try {
      const options = { signal, headers, hasOuterRetry: false };
      ({ checkpoints } = await parts.calls.call('listCheckpoints', { params: { trainingRunId: modelId } }, options));
    } catch (error) {
      if (signal.aborted || !TinkexError.isInstance(error)) throw error;
      return undefined;
    }
    const type = kind === 'weights' ? 'training' : 'sampler';
    const found = checkpoints.find(
      ({ checkpointId, checkpointType, time }) =>
        checkpointType === type &&
        (checkpointId === `${kind}/${name}` || checkpointId === name) &&
        time.getTime() >= startedAtMs - CLOCK_TOLERANCE_MS &&
        time.getTime() > this.#latestEarlierMs(save) + CLOCK_TOLERANCE_MS,
    );
    return found?.tinkerPath;
  }

  /** When the last earlier save under the same name ended; now if one is still in progress. */
  #latestEarlierMs({ earlier }: Save): number {
    const nowMs = this.#model.parts.runtime.clock.now();
    return Math.max(...earlier.map(({ endedAtMs }) => endedAtMs ?? nowMs));
  }
}

/** An accepted save, or the path if the save has turned out to be done already. */
type Submission = { readonly requestId: string } | { readonly path: string };

function missingPath({ requestType }: Save): never {
  const issues = [{ path: 'path', message: 'is missing' }];
  throw new ValidationError({ direction: 'response', subject: `${requestType} result`, issues });
}
