export { type ConnectOptions, connectTestServer } from './connect.js';
export type { RemoteScript } from './remote-script.js';
export type { ExpectedCalls, RemoteCall, RemoteCallFilter, RemoteServer } from './remote-server.js';
export { type ServerProcess, type ServerProcessOptions, startServerProcess } from './server-process.js';
