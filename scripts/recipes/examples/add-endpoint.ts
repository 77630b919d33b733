import { after, before, type Recipe } from '../recipe.js';
import { changeset } from './changeset.js';

const VECTOR = {
  name: '49 GET /api/v1/sessions/{session_id}/labels',
  input: { method: 'GET', path: '/api/v1/sessions/{session_id}/labels' },
  expected: { answer: 'SessionLabelsResponse', http_retries: 10, outer_retry: 'EWR', timeout_seconds: 60, pool: 'train' },
};

/** `GET /sessions/{id}/labels` as `rest.getSessionLabels(sessionId)`. */
export const addEndpoint: Recipe = {
  page: 'add-endpoint',
  edits: [
    after('vectors/protocol/endpoints.json', '"cases": [\n', `    ${JSON.stringify(VECTOR)},\n`),
    before(
      'packages/types/src/wire/sessions.ts',
      '/** Moves a session, with its runs and samplers, to a project. */',
      `/** The labels of a session. */
export interface SessionLabelsResponse {
  readonly labels: readonly string[];
}

/** {@link SessionLabelsResponse} on the wire. */
export const sessionLabelsResponse = responseObject<SessionLabelsResponse>('SessionLabelsResponse', {
  labels: list(text()),
});

`,
    ),
    before(
      'packages/types/src/endpoints/endpoints.ts',
      "  traceExportResponse,\n} from '../wire/sessions.js';",
      '  sessionLabelsResponse,\n',
    ),
    before(
      'packages/types/src/endpoints/endpoints.ts',
      '  exportSessionTrace: {',
      '  getSessionLabels: { ...get, path: `$' + '{SESSION}/labels`, response: sessionLabelsResponse },\n',
    ),
    before('packages/types/src/index.ts', "TraceExportResponse } from './wire/sessions.js'", 'SessionLabelsResponse, '),
    { file: 'packages/types/test/vectors-json.test.ts', find: "('endpoints', 48)", replace: "('endpoints', 49)" },
    before(
      'packages/testkit/src/handlers/sessions.ts',
      'export const assignSessionProject',
      `export const getSessionLabels: RouteHandler<'getSessionLabels'> = ({ tenant, params }) => {
  const session = tenant.sessions.get(params['session_id'] ?? '');
  return session === undefined ? refuse(404, 'There is no such session.') : jsonReply(200, { labels: session.tags });
};

`,
    ),
    after('packages/testkit/src/handlers/route-handlers.ts', '  finishSession,\n  getSession,\n', '  getSessionLabels,\n'),
    before(
      'packages/testkit/src/handlers/route-handlers.ts',
      '  assignSessionProject,\n  exportSessionTrace,\n  getSampler',
      '  getSessionLabels,\n',
    ),
    before(
      'packages/testkit/test/protocol-page.ts',
      '  exportSessionTrace: ',
      "  getSessionLabels: 'Lists the labels that a session was created with.',\n",
    ),
    before(
      'packages/clients/src/rest/rest-client.ts',
      '  /** Moves a session,',
      `  /** The labels that a session was created with. */
  async getSessionLabels(sessionId: string, options: CallOptions = {}): Promise<readonly string[]> {
    const { labels } = await this.#call('getSessionLabels', { params: { sessionId } }, options);
    return labels;
  }

`,
    ),
    before(
      'packages/clients/test/rest-client.test.ts',
      "  it('getSampler', async",
      `  it('getSessionLabels', async () => {
    expect(await rest.getSessionLabels(await service.sessionId())).toEqual([]);
  });

`,
    ),
    before('docs/guides/checkpoints.md', '`assignSessionProject`, `exportSessionTrace`', '`getSessionLabels`, '),
    changeset('`rest.getSessionLabels(sessionId)` returns the labels of a session.', 'types', 'clients', 'testkit'),
  ],
  typecheck: ['types', 'testkit', 'clients'],
  tests: { types: ['test/vectors-json.test.ts'], clients: ['test/rest-client.test.ts'] },
};
