import { apiKeyAuth, HttpClient } from '@tinkex/http';
import { startServer } from '@tinkex/testkit';
import { apiStatusError, createSessionRequest, createSessionResponse, endpoints } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { outerRetryReport, ServiceReporter } from '../src/reporter/index.js';

describe('the service reporter and the strict test server', () => {
  it('agree on every event', async () => {
    await using server = await startServer();
    await using http = new HttpClient({ baseUrl: server.url, auth: apiKeyAuth(server.apiKey) });
    const { sessionId } = await http.request({
      method: 'POST',
      path: endpoints.createSession.path,
      body: createSessionRequest.encode({ tags: [], sdkVersion: '0.25.0' }),
      schema: createSessionResponse,
    });
    const reporter = new ServiceReporter({ http, sessionId, sdkVersion: '0.25.0' });
    const error = apiStatusError({ status: 400, headers: {}, body: { detail: 'bad' } });
    reporter.start();
    reporter.event(outerRetryReport({ operation: 'optim_step', error, isRetried: false, attempt: 0, elapsedMs: 10, wallMs: 10 }));
    reporter.capture(error);
    reporter.capture(new TypeError('boom'), { fatal: true });
    await reporter.close();
    expect(reporter.status).toEqual({ queued: 0, sent: 5, dropped: 0, isStopped: true });
    server.verify();
  });
});
