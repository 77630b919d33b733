/** Requests of a client with and without consumers of its events, against a client without any events. Consumers stay attached, as in an application. */
import { HttpClient } from '@tinkex/http';
import { attachLogger, attachMetrics } from '@tinkex/telemetry';
import { program } from '../measure/program.js';
import { keepInFlight } from '../measure/repeat.js';
import { median } from '../measure/statistics.js';
import { stopwatch } from '../measure/stopwatch.js';
import { loadBareHttp } from './bare-http.js';

interface Task {
  readonly contender: string;
  readonly baseUrl: string;
  readonly calls: number;
}

const IN_FLIGHT = 16;
const TURNS = 20;
const nothing = (): void => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const attachments: Readonly<Record<string, () => unknown>> = {
  'logger-off-level': () => attachLogger({ level: 'warn', sink: quiet }),
  metrics: () => attachMetrics(),
  'logger-debug': () => attachLogger({ level: 'debug', sink: quiet }),
};
const body = { prompt: Array.from({ length: 32 }, (_, index) => index), max_tokens: 64 };

await program(async ({ contender, baseUrl, calls }: Task) => {
  const { HttpClient: BareClient } = await loadBareHttp();
  const clientOf = (Client: typeof HttpClient): HttpClient => new Client({ baseUrl, headers: { 'x-api-key': 'tml-bench' } });
  const clients = { bare: clientOf(BareClient as typeof HttpClient), watched: clientOf(HttpClient) };
  attachments[contender]?.();
  const cpuMs = async (client: HttpClient, count: number): Promise<number> => {
    const stop = stopwatch();
    await keepInFlight(() => client.request({ method: 'POST', path: '/api/v1/asample', body, requestType: 'Sample' }), count, IN_FLIGHT);
    return stop().cpuMs;
  };
  // Both in one process and in short turns: the effect is smaller than the difference between two processes that run the same program. The first turns warm up.
  const ratios: number[] = [];
  for (let turn = -TURNS; turn < TURNS; turn += 1) {
    const order = turn % 2 === 0 ? (['bare', 'watched'] as const) : (['watched', 'bare'] as const);
    const used = { bare: 0, watched: 0 };
    for (const name of order) used[name] = await cpuMs(clients[name], calls / TURNS);
    if (turn >= 0) ratios.push(used.watched / used.bare);
  }
  return { cpuRatio: median(ratios) };
});
