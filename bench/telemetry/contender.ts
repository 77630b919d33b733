/**
 * One contender in a process of its own, because what it attaches stays attached, as in an application (attaching and detaching in turns would
 * measure how the engine recompiles). Sends the requests it is told to, and reports the CPU time of one.
 */
import { type HttpClient, HttpClient as InstrumentedClient } from '@tinkex/http';
import { attachLogger, attachMetrics } from '@tinkex/telemetry';
import { loadBareHttp } from './bare-http.js';

const [name = '', baseUrl = ''] = process.argv.slice(2);
const inFlight = 16;
const nothing = (): void => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const attachments: Readonly<Record<string, () => unknown>> = {
  bare: nothing,
  none: nothing,
  'logger-off-level': () => attachLogger({ level: 'warn', sink: quiet }),
  metrics: () => attachMetrics(),
  'logger-debug': () => attachLogger({ level: 'debug', sink: quiet }),
};

const Client = name === 'bare' ? (await loadBareHttp()).HttpClient : InstrumentedClient;
const client: HttpClient = new Client({ baseUrl, headers: { 'x-api-key': 'tml-bench' } });
attachments[name]?.();
const body = { prompt: Array.from({ length: 32 }, (_, index) => index), max_tokens: 64 };

async function lane(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1)
    await client.request({ method: 'POST', path: '/api/v1/asample', body, requestType: 'Sample' });
}

/** CPU time of one request, microseconds. */
async function measure(requests: number): Promise<number> {
  const perLane = Math.ceil(requests / inFlight);
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, () => lane(perLane)));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (perLane * inFlight);
}

process.on('message', (requests) => {
  measure(Number(requests)).then(
    (microseconds) => process.send?.(microseconds),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
