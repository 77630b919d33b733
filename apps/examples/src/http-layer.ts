/** Only @tinkex/http (and types): requests with retries, deadlines, auth and redaction, for your own endpoints too. */
import { apiKeyAuth, HttpClient, type Middleware } from '@tinkex/http';
import { startServer, type TestServer } from '@tinkex/testkit';
import { ApiStatusError, TimeoutError } from '@tinkex/types';
import { endpoints, getServerCapabilitiesResponse } from '@tinkex/types/wire';
import { runExample } from './shared/run-example.js';

const HOSTED_SERVICE = 'https://tinker.thinkingmachines.dev/services/tinker-prod';

await runExample(
  {
    about: 'Sends single requests by the same rules as the clients, and shows what happens when they fail.',
    whenInterrupted: 'Nothing is lost.',
  },
  async ({ signal }) => {
    const { TINKER_API_KEY, TINKER_BASE_URL } = process.env;
    await using server = TINKER_API_KEY || TINKER_BASE_URL ? undefined : await startServer();
    const apiKey = server?.apiKey ?? TINKER_API_KEY;
    const timing: Middleware = async (request, next) => {
      const startedAt = performance.now();
      const response = await next(request);
      console.log(
        `    ${request.method} ${new URL(request.url).pathname} → ${response.status} in ${(performance.now() - startedAt).toFixed(0)} ms`,
      );
      return response;
    };
    await using http = new HttpClient({
      baseUrl: server?.url ?? (TINKER_BASE_URL || HOSTED_SERVICE),
      ...(apiKey ? { auth: apiKeyAuth(apiKey) } : {}), // sent in a header that appears in no log, event or error
      middleware: [timing],
      maxRetries: 3,
      attemptTimeoutMs: 10_000,
    });

    console.log('A typed call:');
    const { path, method } = endpoints.getServerCapabilities;
    const { data, attempts } = await http.request({ method, path, schema: getServerCapabilitiesResponse, signal }).withMetadata();
    console.log(`  models: ${data.supportedModels.map(({ modelName }) => modelName).join(', ')} (${attempts} attempt)\n`);

    if (server !== undefined) await showRetries(http, server, signal);

    console.log('An error status:');
    const failure = await http.request({ method: 'GET', path: '/api/v1/no-such-thing', signal }).then(undefined, (error: unknown) => error);
    if (!ApiStatusError.isInstance(failure)) throw new Error('This path should not exist.');
    console.log(`  ${failure.code}, status ${failure.status}: ${failure.message}`);
  },
);

/** Makes the embedded server fail. */
async function showRetries(http: HttpClient, server: TestServer, signal: AbortSignal): Promise<void> {
  const health = { method: endpoints.healthz.method, path: endpoints.healthz.path, signal };
  server.on('healthz').reply(503, { retryAfterMs: 20 }).times(2);
  console.log('Two failures, then success:');
  const { attempts, retryDelayMs } = await http.request(health).withMetadata();
  console.log(`  ${attempts} attempts, ${Math.round(retryDelayMs)} ms of waiting in between\n`);

  server.on('healthz').delay(5_000).pass().once();
  console.log('A deadline:');
  const failure = await http.request({ ...health, attemptTimeoutMs: 50, maxRetries: 0 }).then(undefined, (error: unknown) => error);
  if (!TimeoutError.isInstance(failure)) throw new Error('The deadline should have ended this call.');
  console.log(`  ${failure.code}, phase ${failure.phase}: ${failure.message}\n`);
}
