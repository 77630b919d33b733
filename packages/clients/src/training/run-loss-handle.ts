import { type Datum, lossOf, ValidationError } from '@tinkex/types';
import { checkCustomLossData } from '@tinkex/types/custom-loss';
import type { OngoingCall } from '../futures/running-call.js';
import { type CustomForwardBackwardOutput, type CustomLossResult, type LogprobTensor, runCustomPass } from './custom-loss.js';
import type { LossHandle } from './loss-handle.js';
import type { TrainedModel } from './operations.js';
import { runPass } from './passes.js';

/**
 * A pass with a created loss: one forward/backward pass when the server runs the loss, otherwise a forward pass, the loss in this process,
 * and a backward pass. Synchronous with the user's call until its first `await`.
 */
export async function runLossHandle(
  model: TrainedModel,
  call: OngoingCall,
  data: readonly Datum[],
  handle: LossHandle,
): Promise<CustomForwardBackwardOutput> {
  checkSession(handle, model.parts.session.sessionId);
  const { program, lossId } = handle;
  checkCustomLossData(program.definition, data);
  if (lossId === undefined) return runCustomPass(model, call, data, (_, logprobs) => computeHere(handle, data, logprobs));
  const output = await runPass(model, call, 'ForwardBackward', data, 'custom', { loss_id: lossId });
  return { ...output, loss: lossOf(output, data) ?? Number.NaN };
}

function checkSession({ name, sessionId }: LossHandle, ownSessionId: string): void {
  if (sessionId === ownSessionId) return;
  const message = `was created in session ${sessionId}; this client belongs to ${ownSessionId}. Create the loss '${name}' with the service client that created the training client`;
  throw new ValidationError({ direction: 'request', subject: 'call', issues: [{ path: 'loss', message }] });
}

function computeHere({ program }: LossHandle, data: readonly Datum[], logprobs: readonly LogprobTensor[]): CustomLossResult {
  const { loss, gradients, metrics } = program.run(data, logprobs);
  return { loss, metrics, gradients: gradients.map((gradient) => Float32Array.from(gradient)) };
}
