import type { CustomLossInput } from '@tinkex/types';
import type { CustomLossProgram } from '@tinkex/types/custom-loss';

/**
 * A custom loss of one session. Create it with `service.createCustomLoss(…)` and pass it to `training.forwardBackwardCustom(data, handle)`. It
 * works only with the training clients of that service client.
 */
export class LossHandle {
  readonly name: string;
  /** `logprobs`, then the inputs of each datum that the loss reads, under their names on the wire, with their ranks. */
  readonly inputs: readonly CustomLossInput[];
  /** The session that created the loss. */
  readonly sessionId: string;
  /** The server's ID of the loss. Undefined when the server does not run custom losses: then this process does. */
  readonly lossId: string | undefined;
  readonly #program: CustomLossProgram;

  private constructor(program: CustomLossProgram, sessionId: string, lossId: string | undefined) {
    this.name = program.definition.name;
    this.inputs = program.definition.inputs;
    this.sessionId = sessionId;
    this.lossId = lossId;
    this.#program = program;
  }

  /** @internal */
  static of(program: CustomLossProgram, sessionId: string, lossId: string | undefined): LossHandle {
    return new LossHandle(program, sessionId, lossId);
  }

  /** @internal */
  get program(): CustomLossProgram {
    return this.#program;
  }
}
