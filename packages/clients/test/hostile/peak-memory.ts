import { HttpClient } from '@tinkex/http';

/**
 * A separate process that makes one request and prints by how much its memory grew at the peak, as the system has counted it, in bytes, and
 * how the request ended: `node peak-memory.ts <url> <limit>`.
 */
const [url = '', limit = ''] = process.argv.slice(2);
const client = new HttpClient({ baseUrl: url, maxRetries: 0, maxResponseBytes: Number(limit) });
for (let round = 0; round < 20; round += 1) await client.request({ method: 'GET', path: '/small' });
const peak = (): number => process.resourceUsage().maxRSS * 1024;
const before = peak();
let outcome = '';
try {
  outcome = `${await client.request({ method: 'GET', path: '/large', parse: ({ bytes }) => bytes.byteLength })} bytes`;
} catch (error) {
  outcome = (error as Error).name;
}
console.log(JSON.stringify({ grownBytes: peak() - before, outcome }));
await client.close();
