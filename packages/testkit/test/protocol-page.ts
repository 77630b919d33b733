import { endpoints } from '@tinkex/types/wire';
import { REQUIRED_FIELDS } from '../src/checks/read-body.js';
import { PROTOCOL_RULES, type RouteName } from '../src/index.js';

/** What each endpoint is for. */
const PURPOSES: { readonly [Name in RouteName]: string } = {
  healthz: 'Says that the service is up. Needs no credential.',
  getServerCapabilities: 'Lists the base models that can be trained and sampled.',
  clientConfig: 'Gives the client its settings and feature flags. Called once per process, with the raw credential.',
  clientDynamicConfig: 'Says how often the client refreshes what can change while it runs.',
  authToken: 'Exchanges the credential for a JWT. Called with the raw credential.',
  createSession: 'Opens the session that models and sampling sessions belong to.',
  sessionHeartbeat: 'Keeps a session alive.',
  createSamplingSession: 'Opens a sampling session on a base model or on saved weights.',
  joinSamplingSession: 'Gives another holder of a sampling session, such as a worker thread, its block of sequence IDs.',
  createModel: 'Creates a LoRA adapter to train.',
  getInfo: 'Describes a model in training.',
  unloadModel: 'Releases a model once the operations accepted before it have run.',
  forwardBackward: 'Computes the loss of a batch and adds its gradients to those already accumulated.',
  forward: 'Computes the loss of a batch without gradients. Only for servers that read JSON.',
  createCustomLoss: 'Stores a traced loss in the session, for passes with the loss function custom.',
  optimStep: 'Applies the accumulated gradients.',
  loadWeights: 'Loads a checkpoint into a model, or creates a model from one.',
  saveWeights: 'Saves the weights and the optimizer, to resume training from.',
  saveWeightsForSampler: 'Saves the weights alone, to sample from.',
  saveWeightsExternal: 'Saves the weights as files for other tools, encrypted if recipients are named.',
  copyWeights:
    'Copies a checkpoint into a project. The copy shares the storage; its run cannot be trained. A retry repeats the idempotency key.',
  asample: 'Samples from a sampling session or from named weights.',
  retrieveFuture: 'Polls a future. The answer is its result, a failure, try again later (408), or gone (410).',
  retrieveFutures: 'Polls all samples of one holder of a sampling session: which have ended since the cursor.',
  cancelFuture: 'Stops the work for a sample that has no waiter any more.',
  telemetry: 'Takes events about the client.',
  listTrainingRuns: 'Lists training runs, newest first.',
  getTrainingRun: 'Describes a training run.',
  listCheckpoints: 'Lists the checkpoints of a training run.',
  deleteCheckpoint: 'Deletes a checkpoint.',
  checkpointArchive: 'Gives the signed URL of a tar archive of a checkpoint, as a redirect.',
  externalWeightsUrls: 'One signed URL for each file of an external checkpoint.',
  publishCheckpoint: 'Lets every user read a checkpoint.',
  unpublishCheckpoint: 'Makes a checkpoint private again.',
  setCheckpointTtl: 'Sets when a checkpoint expires; null keeps it.',
  listUserCheckpoints: 'Lists the checkpoints of all training runs, newest first.',
  weightsInfo: 'Describes the weights behind a tinker:// path.',
  listSessions: 'Lists sessions, newest first.',
  getSession: 'Lists the training runs and samplers of a session.',
  finishSession: 'Ends a session. The first reason stays; afterwards operations are refused and heartbeats answer 410.',
  searchSessions: 'Finds sessions by name, metadata, project, owner and status, newest first.',
  assignSessionProject: 'Moves a session to a project.',
  exportSessionTrace: 'Gives the URL of the trace of a session once it is built.',
  getSampler: 'Describes a sampler.',
  auditLog: 'Lists what happened to checkpoints on one day.',
  billingUsage: 'Lists what was used, by hour, session and model.',
  currentCheckpointStorageUsage: 'Lists the storage that checkpoints use now, by project and owner.',
  getOwnApiKey: 'Says whose key it is. Of command lines, with the raw credential.',
  revokeOwnApiKey: 'Revokes the key of the request. Of command lines, with the raw credential.',
};

const INTRODUCTION = `# The protocol

<!-- Generated from the endpoint table and the rules of the testkit. Do not edit: run \`npm run generate\`. -->

What a client sends and what it gets back, as far as the SDK relies on it. The test server of \`@tinkex/testkit\` checks every request against the
rules below; \`server.verify()\` links to them.

- Every path is below the base URL. Credentials travel in \`X-API-Key\`.
- Bodies are JSON in snake_case, except for \`forward_backward\`, which is a protobuf message on the hosted service. Fields marked \`?\` may be left out.
- Slow endpoints answer with a future, \`{ "request_id": … }\`. Its result comes from [retrieveFuture](#retrievefuture).
- Operations of one model run in the order of their \`seq_id\`, however they arrive. The same \`seq_id\` with the same body is the same operation.
- A retry repeats \`X-Idempotency-Key\` and the body.
`;

/** The Markdown of `docs/protocol/README.md`. */
export function protocolPage(): string {
  const rules = Object.entries(PROTOCOL_RULES).map(([rule, text]) => `### ${rule}\n\n${text}\n`);
  const routes = (Object.keys(endpoints) as RouteName[]).map(routeSection);
  return [INTRODUCTION, '## Rules\n', ...rules, '## Endpoints\n', ...routes].join('\n');
}

interface Described {
  readonly name: string;
  readonly fields: Readonly<Record<string, { readonly isOptional: boolean }>>;
}

function routeSection(route: RouteName): string {
  const {
    method,
    path,
    request,
    query,
    response,
    result,
    requestType,
  }: Partial<Record<'request' | 'query' | 'response' | 'result', Described>> & {
    readonly method: string;
    readonly path: string;
    readonly requestType?: string;
  } = endpoints[route];
  const answer = result === undefined ? response : undefined;
  return [
    `### ${route}\n`,
    `\`${method} ${path}\`\n`,
    `${PURPOSES[route]}\n`,
    ...(query === undefined ? [] : [`- Query: ${fields(query)}`]),
    ...(request === undefined ? [] : [`- Body \`${request.name}\`: ${fields(request, REQUIRED_FIELDS[route])}`]),
    ...(answer === undefined ? [] : [`- Answer \`${answer.name}\`: ${fields(answer)}`]),
    ...(result === undefined ? [] : [`- Answer: a future of type \`${requestType}\`. Result \`${result.name}\`: ${fields(result)}`]),
    '',
  ].join('\n');
}

/** The names of an object's fields on the wire. */
function fields(described: Described, required: readonly string[] = []): string {
  const names = Object.entries(described.fields).map(
    ([name, { isOptional }]) => `\`${name}${isOptional && !required.includes(name) ? '?' : ''}\``,
  );
  return names.length === 0 ? 'no fields' : names.join(', ');
}
