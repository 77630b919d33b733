export { FetchTransport, type FetchTransportOptions } from '../transport/fetch-transport.js';
