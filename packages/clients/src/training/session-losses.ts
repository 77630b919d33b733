import { type CustomLossDefinition, type LossInputRanks, type TraceOptions, ValidationError } from '@tinkex/types';
import { compileCustomLoss } from '@tinkex/types/custom-loss';
import type { CallOptions } from '../runtime/call-options.js';
import { runCreation } from './create-model.js';
import { LossHandle } from './loss-handle.js';
import type { TrainingParts } from './operations.js';

/** Options of `createCustomLoss`. */
export interface CustomLossOptions<Inputs extends LossInputRanks = LossInputRanks> extends TraceOptions<Inputs>, CallOptions {}

/** The custom losses of one session: each is created once. */
export class SessionLosses {
  /** The name of each loss by what it computes. */
  readonly #created = new Map<string, string>();
  #nextSeqId = 0;

  /** Creates a loss, on the server when it runs custom losses. A loss whose creation failed may be created again. */
  async create(parts: TrainingParts, definition: CustomLossDefinition, options: CallOptions): Promise<LossHandle> {
    const { name, inputs, graph } = definition;
    const program = compileCustomLoss(definition);
    const key = JSON.stringify([inputs, graph]);
    const existing = this.#created.get(key);
    if (existing !== undefined) throw alreadyCreated(name, existing);
    this.#created.set(key, name);
    const { sessionId } = parts.session;
    if (!parts.training.config.customLossServerSide) return LossHandle.of(program, sessionId, undefined);
    const body = { sessionId, customLossSeqId: this.#nextSeqId++, name, inputs, graph };
    try {
      const { lossId } = await runCreation(parts, 'CreateCustomLoss', body, options);
      return LossHandle.of(program, sessionId, lossId);
    } catch (error) {
      this.#created.delete(key);
      throw error;
    }
  }
}

function alreadyCreated(name: string, existing: string): ValidationError {
  const message = `'${name}' computes the same as '${existing}', which this session has created; use that LossHandle again`;
  return new ValidationError({ direction: 'request', subject: 'custom loss', issues: [{ path: '', message }] });
}
