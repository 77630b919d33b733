import { type MonotonicTime, timeAfter } from '@tinkex/http';
import {
  ApiStatusError,
  type Checkpoint,
  FutureExpiredError,
  type SaveWeightsExternalResponse,
  type SaveWeightsResponse,
  TinkexError,
  ValidationError,
} from '@tinkex/types';
import { endpoints } from '@tinkex/types/wire';
import { Doubt } from '../calls/attempt-failure.js';
import type { ApiFuture } from '../futures/api-future.js';
import { type OngoingCall, RunningCall } from '../futures/running-call.js';
import type { CallOptions } from '../runtime/call-options.js';
import { pollResult, submitOperation, type TrainedModel } from './operations.js';
import { STEP_KEY } from './resume.js';
import type {
  SavedExternalWeights,
  SavedSamplerWeights,
  SaveStateOptions,
  SaveWeightsExternalOptions,
  SaveWeightsForSamplerOptions,
} from './training-options.js';

/** The clocks of the server and of this machine may differ by this much in either direction. */
const CLOCK_TOLERANCE_MS = 60_000;
/** How long after its end a save is remembered. */
const REMEMBERED_MS = 2 * CLOCK_TOLERANCE_MS;
/** After this many answers with 500 the list of checkpoints is read: some servers fail that way when the name is taken. */
const FAILURES_BEFORE_LIST = 3;

/** The kinds of saves: how lists of checkpoints show them, and their requests. */
const KINDS = {
  SaveWeights: { checkpointType: 'training', segment: 'weights', request: endpoints.saveWeights.request },
  SaveWeightsForSampler: { checkpointType: 'sampler', segment: 'sampler_weights', request: endpoints.saveWeightsForSampler.request },
  SaveWeightsExternal: { checkpointType: 'external', segment: 'external_weights', request: endpoints.saveWeightsExternal.request },
} as const;

/** A save, from its call to its end. */
interface Save {
  readonly requestType: keyof typeof KINDS;
  /** The checkpoint's name. */
  readonly name: string;
  /** What else the request says. */
  readonly fields: Omit<SaveStateOptions & SaveWeightsExternalOptions, keyof CallOptions>;
  /** Earlier saves under the same name that this one could be mistaken for. */
  earlier: readonly Save[];
  /** When it began and ended by the wall clock, which the times in lists of checkpoints are compared with. */
  readonly startedWallMs: number;
  endedWallMs: number | undefined;
  endedAt: MonotonicTime | undefined;
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
    return this.#start('SaveWeights', name, () => ({ ttlSeconds, overwrite, userMetadata: metadataOf(options) }), options);
  }

  /** Saves weights to sample from. */
  saveWeightsForSampler(name: string, options: SaveWeightsForSamplerOptions): ApiFuture<SavedSamplerWeights> {
    const { ttlSeconds, userMetadata } = options;
    return this.#start('SaveWeightsForSampler', name, () => ({ ttlSeconds, userMetadata: userMetadata && { ...userMetadata } }), options);
  }

  /** Saves weights as files for other tools. */
  saveWeightsExternal(name: string, options: SaveWeightsExternalOptions): ApiFuture<SavedExternalWeights> {
    const { ttlSeconds, ageEncryptionRecipients: recipients } = options;
    return this.#start(
      'SaveWeightsExternal',
      name,
      () => ({ ttlSeconds, ageEncryptionRecipients: recipients && [...recipients] }),
      options,
    );
  }

  /** @param copyFields - Runs within the user's call. What it throws is how the future fails. */
  #start(
    requestType: Save['requestType'],
    name: string,
    copyFields: () => Save['fields'],
    options: CallOptions,
  ): ApiFuture<SavedExternalWeights> {
    const { runtime } = this.#model.parts;
    const call = new RunningCall<SavedExternalWeights>(runtime, requestType, options);
    const times = { startedWallMs: runtime.clock.wallMs(), endedWallMs: undefined, endedAt: undefined };
    const run = async () => this.#run(call, { requestType, name, fields: copyFields(), earlier: [], ...times });
    return call.settleWith(run());
  }

  async #run(call: OngoingCall, save: Save): Promise<SavedExternalWeights> {
    checkSave(this.#model.modelId, save);
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
      const saved = 'path' in submission ? submission : await this.#pollSaved(call, save, submission.requestId);
      this.#model.publishCheckpoint('tinkex:checkpoint:save', call, saved.path);
      return saved;
    } finally {
      const { clock } = this.#model.parts.runtime;
      save.endedWallMs = clock.wallMs();
      save.endedAt = clock.monotonicMs();
    }
  }

  #remember(save: Save): void {
    const oldest = timeAfter(this.#model.parts.runtime.clock, -REMEMBERED_MS);
    this.#recent = this.#recent.filter(({ endedAt }) => endedAt === undefined || endedAt > oldest);
    save.earlier = this.#recent.filter(({ requestType, name }) => requestType === save.requestType && name === save.name);
    this.#recent.push(save);
  }

  /**
   * Submits until the server accepts, or until the save turns out to be done. A 409 to the first attempt is the server's answer: the name is
   * taken. A 409 after an attempt whose answer was lost may concern the save itself. A server that fails on every attempt, and lists an older
   * checkpoint under the name, fails because of it.
   */
  async #submit(call: OngoingCall, save: Save, seqId: number): Promise<Submission> {
    const { parts, modelId } = this.#model;
    const { requestType } = save;
    const body = bodyOf(modelId, save, seqId);
    const doubt = new Doubt();
    let failures = 0;
    const settle = async (error: ApiStatusError): Promise<Submission | Refusal | undefined> => {
      if (error.status === 409) return doubt.isOpen ? this.#findSaved(call, save) : { refusal: error };
      if (error.status !== 500 || save.fields.overwrite) return undefined;
      failures += 1;
      return failures === FAILURES_BEFORE_LIST ? this.#settleFailure(call, save, error) : undefined;
    };
    const submitOnce = async (): Promise<Submission | Refusal> => {
      try {
        return { requestId: await submitOperation(parts, requestType, body, { ...call.step, hasOuterRetry: false }) };
      } catch (error) {
        const settled = ApiStatusError.isInstance(error) ? await settle(error) : undefined;
        if (settled !== undefined) return settled;
        doubt.note({ error });
        throw error;
      }
    };
    let submission: Awaited<ReturnType<typeof submitOnce>>;
    try {
      submission = await parts.calls.retry(submitOnce, { operation: 'save', signal: call.signal });
    } catch (error) {
      const found = doubt.isOpen && !call.signal.aborted ? await this.#findSaved(call, save) : undefined;
      if (found !== undefined) return found;
      throw doubt.explain(error);
    }
    if ('refusal' in submission) throw explainTaken(submission.refusal, save);
    return submission;
  }

  /** What repeated failures mean: the save is done, or its name is taken. Undefined when the list says neither. */
  async #settleFailure(call: OngoingCall, save: Save, error: ApiStatusError): Promise<Submission | Refusal | undefined> {
    const named = await this.#listNamed(call, save);
    const found = named.find((checkpoint) => this.#isOf(save, checkpoint));
    if (found !== undefined) return savedWeights(found.tinkerPath, found.sizeBytes, save);
    return named.length === 0 ? undefined : { refusal: error };
  }

  async #pollSaved(call: OngoingCall, save: Save, requestId: string): Promise<SavedExternalWeights> {
    call.accept([requestId]);
    try {
      const result: SaveWeightsExternalResponse = await pollResult(this.#model.parts, call, save.requestType, requestId);
      return savedWeights(result.path ?? missingPath(save), result.sizeBytes, save);
    } catch (error) {
      const found = FutureExpiredError.isInstance(error) ? await this.#findSaved(call, save) : undefined;
      if (found === undefined) throw error;
      return found;
    }
  }

  /** The checkpoint if it was saved since this call began. */
  async #findSaved(call: OngoingCall, save: Save): Promise<SavedExternalWeights | undefined> {
    const found = (await this.#listNamed(call, save)).find((checkpoint) => this.#isOf(save, checkpoint));
    return found && savedWeights(found.tinkerPath, found.sizeBytes, save);
  }

  /** The checkpoints of the model that have the kind and the name. A list that cannot be fetched decides nothing. */
  async #listNamed({ signal, step }: OngoingCall, { name, requestType }: Save): Promise<readonly Checkpoint[]> {
    const { parts, modelId } = this.#model;
    const kind = KINDS[requestType];
    try {
      const options = { ...step, hasOuterRetry: false };
      const { checkpoints } = await parts.calls.call('listCheckpoints', { params: { trainingRunId: modelId } }, options);
      return checkpoints.filter(
        ({ checkpointId, checkpointType }) =>
          checkpointType === kind.checkpointType && (checkpointId === `${kind.segment}/${name}` || checkpointId === name),
      );
    } catch (error) {
      if (signal.aborted || !TinkexError.isInstance(error)) throw error;
      return [];
    }
  }

  /** Whether a checkpoint of the name is from this save, by its time. */
  #isOf(save: Save, { time }: Checkpoint): boolean {
    const savedMs = time.getTime();
    return savedMs >= save.startedWallMs - CLOCK_TOLERANCE_MS && savedMs > this.#latestEarlierMs(save) + CLOCK_TOLERANCE_MS;
  }

  /** When the last earlier save under the same name ended; now if one is still in progress. */
  #latestEarlierMs({ earlier }: Save): number {
    const wallMs = this.#model.parts.runtime.clock.wallMs();
    return Math.max(...earlier.map(({ endedWallMs }) => endedWallMs ?? wallMs));
  }
}

/** An accepted save, or the checkpoint if the save has turned out to be done already. */
type Submission = { readonly requestId: string } | SavedExternalWeights;

/** The server's last word: the name is taken. */
interface Refusal {
  readonly refusal: ApiStatusError;
}

/** What is kept with a checkpoint: the facts of the user, and its step. */
function metadataOf({ step, userMetadata }: SaveStateOptions): SaveStateOptions['userMetadata'] {
  if (step === undefined) return userMetadata && { ...userMetadata };
  if (Number.isSafeInteger(step) && step >= 0) return { ...userMetadata, [STEP_KEY]: String(step) };
  const issues = [{ path: 'step', message: `must be a whole number from 0 up, got ${step}` }];
  throw new ValidationError({ direction: 'request', subject: 'saveState', issues });
}

/** Only saves for other tools report a size. */
function savedWeights(path: string, sizeBytes: number | undefined, { requestType }: Save): SavedExternalWeights {
  return requestType === 'SaveWeightsExternal' && sizeBytes !== undefined ? { path, sizeBytes } : { path };
}

/** The request's body. Its type is that of every kind of save at the same time. */
function bodyOf(modelId: string, { name: path, fields }: Save, seqId: number): never {
  return { modelId, path, seqId, ...fields } as never;
}

/** @throws ValidationError for a save that no server would accept, before it takes a sequence ID. */
function checkSave(modelId: string, save: Save): void {
  const { requestType, fields } = save;
  KINDS[requestType].request.encode(bodyOf(modelId, save, 1));
  if (fields.ageEncryptionRecipients?.length !== 0) return;
  const message = 'is empty: name at least one key, or leave it out to save the files unencrypted';
  const issues = [{ path: 'ageEncryptionRecipients', message }];
  throw new ValidationError({ direction: 'request', subject: 'SaveWeightsExternalRequest', issues });
}

function explainTaken(refusal: ApiStatusError, { name, requestType, fields }: Save): ApiStatusError {
  if (refusal.status === 500) {
    refusal.message += ` (It failed ${FAILURES_BEFORE_LIST} times, and there is an older checkpoint ${JSON.stringify(name)}: choose another name.)`;
    return refusal;
  }
  const remedy =
    requestType === 'SaveWeights' && fields.overwrite !== true
      ? 'choose another, or pass overwrite: true if this server can replace checkpoints'
      : 'choose another';
  refusal.message += ` (If the name ${JSON.stringify(name)} is taken, ${remedy}.)`;
  return refusal;
}

function missingPath({ requestType }: Save): never {
  const issues = [{ path: 'path', message: 'is missing' }];
  throw new ValidationError({ direction: 'response', subject: `${requestType} result`, issues });
}
