/** The server of the measured calls, in a separate process: only what the client executes counts. `refuse` makes it answer the next sample with 429. */
import { startServer } from '../../packages/testkit/src/index.js';

const server = await startServer();
process.send?.(server.clientOptions);
process.on('message', () => {
  server.on('asample').reply(429, { detail: 'slow down' }, { 'retry-after': '0' }).times(1);
  process.send?.('refusing');
});
process.on('disconnect', () => process.exit());
