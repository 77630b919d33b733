import { ServiceClient } from '@tinkex/clients';
import { type Loop, trainSmall } from './small-runs.js';

/** A process that trains until it is done or killed: the loop, the server's address, its key, the run folder. */
const [loop, baseUrl, apiKey, logPath] = process.argv.slice(2) as [Loop, string, string, string];
await using service = new ServiceClient({ baseUrl, apiKey, telemetry: false });
await trainSmall(loop, service, logPath);
