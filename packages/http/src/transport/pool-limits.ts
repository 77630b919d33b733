/**
 * How many connections each pool of the protocol may open to one origin. A long poll occupies its connection for as long as
 * the server holds it, so `retrieve_promise` gets one for each of the 2,000 calls that a sampling session may have in flight.
 */
export const DEFAULT_POOL_CONNECTIONS: Readonly<Record<string, number>> = {
  session: 50,
  sample: 256,
  train: 256,
  rest_support_redirect: 50,
  retrieve_promise: 2048,
  telemetry: 8,
  auth: 4,
};

/** Connections of a pool that the table does not name. */
export const DEFAULT_CONNECTIONS = 256;
