export { type FetchRequestOptions, sendFetchResponse, toFetchRequest } from './fetch-messages.js';
export { type FetchHandler, type FetchServer, type FetchServerOptions, startFetchServer } from './fetch-server.js';
export { isAllowedHost } from './host-names.js';
