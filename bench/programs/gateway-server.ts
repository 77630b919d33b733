/** A Tinker server with the engine that learns. Says where it is, and how much CPU time it has used. */
import { startServer } from '@tinkex/testkit';
import { answerLines } from './helper-process.js';

const server = await startServer({ recorderLimit: 0, apiKeys: ['tml-bench'] });
await answerLines(() => {
  const { user, system } = process.cpuUsage();
  return { url: server.url, cpuMs: (user + system) / 1_000 };
});
await server.close();
