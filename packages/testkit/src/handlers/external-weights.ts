import { encryptFor, parseRecipient } from '../archive/age-encryption.js';
import type { CheckpointFiles } from '../engine/engine.js';
import { refuse } from '../requests/message.js';
import type { RouteHandler } from '../requests/request-context.js';
import { modelOf } from './lookup.js';
import { checkName, checkpointPath, checkTtl, keepCheckpoint, sizeOf } from './save-weights.js';
import { submitTraining } from './training-submission.js';

/** Marks the end of a checkpoint for the service itself; other tools do not need it. */
const OWN_FILES: readonly string[] = ['checkpoint_complete'];

/** Saves the adapter as the files that other tools read, encrypted if the request names recipients. */
export const saveWeightsExternal: RouteHandler<'saveWeightsExternal'> = (context) => {
  const { modelId, seqId, path: name, ttlSeconds, ageEncryptionRecipients: recipients = [] } = context.request;
  const model = modelOf(context, modelId);
  checkName(context, name);
  checkTtl(context, ttlSeconds);
  for (const recipient of recipients) {
    if (parseRecipient(recipient) === undefined)
      refuse(400, `The test server encrypts only to age1… keys, not to ${recipient.slice(0, 20)}…`);
  }
  const path = checkpointPath(context, modelId, 'external', name);
  return submitTraining(context, {
    model,
    seqId,
    requestType: 'SaveWeightsExternal',
    run: async (engine) => {
      const files = filesForOthers(await engine.save('sampler'), recipients);
      keepCheckpoint(context, model, { path, name, kind: 'external', ttlSeconds, userMetadata: undefined, files });
      return { path, sizeBytes: sizeOf(files) };
    },
  });
};

function filesForOthers(saved: CheckpointFiles, recipients: readonly string[]): CheckpointFiles {
  const plain = [...saved].filter(([name]) => !OWN_FILES.includes(name));
  return new Map(recipients.length === 0 ? plain : plain.map(([name, bytes]) => [`${name}.age`, encryptFor(recipients, bytes)]));
}
