/** A client of a gateway. Posts as many requests as requested, and reports how many tokens came back and how long the first delta took. */
import { Pool } from 'undici';
import { keepInFlight } from '../measure/repeat.js';
import { median } from '../measure/statistics.js';
import { answerLines } from './helper-process.js';

/** What to do. */
export interface ClientWork {
  readonly calls: number;
  readonly inFlight: number;
}

/** What came of it. */
export interface ClientResult {
  readonly tokens: number;
  readonly firstDeltaMs: number;
}

interface Task {
  readonly url: string;
  readonly apiKey: string;
  readonly body: string;
}

const { url, apiKey, body } = JSON.parse(process.argv[2] ?? '{}') as Task;
const pool = new Pool(url, { connections: 1_024 });
const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

async function call(): Promise<ClientResult> {
  const start = performance.now();
  const response = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body });
  let text = '';
  let firstDeltaMs: number | undefined;
  for await (const chunk of response.body.setEncoding('utf8')) {
    text += chunk as string;
    if (firstDeltaMs === undefined && /"content":"[^"]/.test(text)) firstDeltaMs = performance.now() - start;
  }
  const tokens = /"completion_tokens":(\d+)/.exec(text)?.[1];
  if (response.statusCode !== 200 || tokens === undefined) throw new Error(text);
  return { tokens: Number(tokens), firstDeltaMs: firstDeltaMs ?? Number.NaN };
}

await answerLines(async (question) => {
  const { calls, inFlight } = question as ClientWork;
  const results: ClientResult[] = [];
  await keepInFlight(async () => results.push(await call()), calls, inFlight);
  return {
    tokens: results.reduce((sum, { tokens }) => sum + tokens, 0),
    firstDeltaMs: median(results.map(({ firstDeltaMs }) => firstDeltaMs)),
  };
});
await pool.close();
