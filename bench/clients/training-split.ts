import { fork } from 'node:child_process';
import { once } from 'node:events';
import { makeBatches, rawUndici, tinkex } from './training-contenders.js';
import { protobuf } from '@tinkex/types';
const server = fork(new URL('./training-server.ts', import.meta.url), ['64', '512'], { silent: true });
const [portLine] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
const url = `http://127.0.0.1:${Number(portLine.toString())}`;
const batches = makeBatches(100, 64, 512);
const raw = rawUndici(url, batches);
const sdk = await tinkex(url, batches);
async function m(name: string, f: () => unknown) { await f(); for (let i = 0; i < 4; i++) { const c = process.cpuUsage(); const r = process.resourceUsage(); await f(); const d = process.cpuUsage(c); const r2 = process.resourceUsage(); console.log(name, 'user', (d.user / 1000).toFixed(0), 'sys', (d.system / 1000).toFixed(0), 'minflt', r2.minorPageFault - r.minorPageFault, 'ctx', r2.voluntaryContextSwitches - r.voluntaryContextSwitches, r2.involuntaryContextSwitches - r.involuntaryContextSwitches); } }
await m('raw', () => raw.train());
await m('sdk', () => sdk.train());
await m('encode', () => { for (const data of batches) protobuf.forwardBackwardRequest.encode({ modelId: 'm', seqId: 1, data, lossFn: 'x' }); });
await sdk.close(); await raw.close(); server.disconnect();
