import { AdminClient, RestClient } from '@tinkex/clients';
import { createResponse, type Transport, type TransportRequest } from '@tinkex/http';
import { expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';

interface Expected {
  readonly request: string;
  readonly 'x-sdk-method': string;
  readonly 'x-sdk-version': string;
  readonly idempotency_key: string | null;
}

const path = 'tinker://s:train:0/weights/x';

/** The arguments of each method, by the reference's name. */
const calls: Readonly<Record<string, (rest: RestClient, admin: AdminClient) => PromiseLike<unknown>>> = {
  get_training_run: (rest) => rest.getTrainingRun('s:train:0'),
  get_training_run_by_tinker_path: (rest) => rest.getTrainingRunByTinkerPath(path),
  get_weights_info_by_tinker_path: (rest) => rest.getWeightsInfoByTinkerPath(path),
  list_training_runs: (rest) => rest.listTrainingRuns(),
  list_checkpoints: (rest) => rest.listCheckpoints('s:train:0'),
  list_user_checkpoints: (rest) => rest.listUserCheckpoints(),
  get_external_weights_urls: (rest) => rest.getExternalWeightsUrls('tinker://s:train:0/external_weights/x'),
  copy_weights: (rest) => rest.copyWeights(path, { destinationProjectId: 'p' }),
  delete_checkpoint: (rest) => rest.deleteCheckpoint('s:train:0', 'weights/x'),
  delete_checkpoint_from_tinker_path: (rest) => rest.deleteCheckpointFromTinkerPath(path),
  publish_checkpoint_from_tinker_path: (rest) => rest.publishCheckpointFromTinkerPath(path),
  unpublish_checkpoint_from_tinker_path: (rest) => rest.unpublishCheckpointFromTinkerPath(path),
  set_checkpoint_ttl_from_tinker_path: (rest) => rest.setCheckpointTtlFromTinkerPath(path, 3600),
  get_session: (rest) => rest.getSession('s'),
  list_sessions: (rest) => rest.listSessions(),
  assign_session_project: (rest) => rest.assignSessionProject('s', 'p'),
  export_session_trace: (rest) => rest.exportSessionTrace('s'),
  get_sampler: (rest) => rest.getSampler('s:sample:0'),
  search_sessions: (rest) => rest.searchSessions(),
  get_audit_log: (_, admin) => admin.getAuditLog(),
  get_billing_usage: (_, admin) => admin.getBillingUsage('2026-07-13T00:00:00Z', '2026-07-14T00:00:00Z'),
  get_current_checkpoint_storage_usage: (_, admin) => admin.getCurrentCheckpointStorageUsage(),
};

it.each(readVectors<{ method: string }, Expected>('rest-headers'))('$name', async ({ input, expected }) => {
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    async send(request) {
      requests.push(request);
      return createResponse({ status: 404, body: { detail: 'Not Found' } });
    },
    async close() {
      // Nothing is held.
    },
  };
  const options = { baseUrl: 'http://server.test', apiKey: 'any', transport };
  const call = calls[input.method];
  if (call === undefined) throw new Error(`no call for ${input.method}`);
  await expect(call(new RestClient(options), new AdminClient(options))).rejects.toMatchObject({ status: 404 });
  const [request] = requests.filter(({ url }) => !url.includes('/client/'));
  expect(`${request?.method} ${new URL(request?.url ?? '').pathname}`).toBe(expected.request);
  expect(request?.headers).toMatchObject({ 'x-sdk-method': expected['x-sdk-method'], 'x-sdk-version': expected['x-sdk-version'] });
  expect(request?.headers['x-idempotency-key'] !== undefined).toBe(expected.idempotency_key !== null);
  for (const { headers } of requests.filter(({ url }) => url.includes('/client/'))) expect(headers).not.toHaveProperty('x-sdk-method');
});
