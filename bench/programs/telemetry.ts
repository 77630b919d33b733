/** Requests of a client that somebody watches, or nobody. What is attached stays attached, as in an application. */
import { type HttpClient, HttpClient as WatchedClient } from '@tinkex/http';
import { attachLogger, attachMetrics } from '@tinkex/telemetry';
import { program } from '../measure/program.js';
import { keepInFlight } from '../measure/repeat.js';
import { collectGarbage, stopwatch } from '../measure/stopwatch.js';
import { loadBareHttp } from './bare-http.js';

interface Task {
  readonly contender: string;
  readonly baseUrl: string;
  readonly calls: number;
}

const IN_FLIGHT = 16;
const nothing = (): void => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const attachments: Readonly<Record<string, () => unknown>> = {
  'logger-off-level': () => attachLogger({ level: 'warn', sink: quiet }),
  metrics: () => attachMetrics(),
  'logger-debug': () => attachLogger({ level: 'debug', sink: quiet }),
};
const body = { prompt: Array.from({ length: 32 }, (_, index) => index), max_tokens: 64 };

await program(async ({ contender, baseUrl, calls }: Task) => {
  const Client = contender === 'bare' ? (await loadBareHttp()).HttpClient : WatchedClient;
  const client: HttpClient = new Client({ baseUrl, headers: { 'x-api-key': 'tml-bench' } });
  attachments[contender]?.();
  const call = () => client.request({ method: 'POST', path: '/api/v1/asample', body, requestType: 'Sample' });
  await keepInFlight(call, calls, IN_FLIGHT);
  collectGarbage();
  const stop = stopwatch();
  await keepInFlight(call, calls, IN_FLIGHT);
  return { cpuMicrosPerCall: (stop().cpuMs * 1_000) / calls };
});
