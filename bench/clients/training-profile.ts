import { fork } from 'node:child_process';
import { once } from 'node:events';
import { makeBatches, tinkex } from './training-contenders.js';
const server = fork(new URL('./training-server.ts', import.meta.url), ['64', '512'], { silent: true });
const [portLine] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
const sdk = await tinkex(`http://127.0.0.1:${Number(portLine.toString())}`, makeBatches(100, 64, 512));
for (let i = 0; i < 12; i++) await sdk.train();
await sdk.close();
server.disconnect();
