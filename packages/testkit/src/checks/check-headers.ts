import { endpoints } from '@tinkex/types/wire';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import type { ServerRequest } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';

const JSON_TYPE = /^application\/json\b/i;

/** Records missing headers as violations. Never refuses a request, as the service does not either. */
export function checkHeaders(recorder: Recorder, call: RecordedCall, route: RouteName, { method, headers, body }: ServerRequest): void {
  const takesBody = 'request' in endpoints[route];
  if (!takesBody && body.length > 0) recorder.violate(call, 'content-length', `${method} ${route} came with ${body.length} bytes of body`);
  // Command lines call it with a plain HTTP client.
  if (method === 'GET' || route === 'revokeOwnApiKey') return;
  if (!headers['x-idempotency-key']) recorder.violate(call, 'idempotency-key-missing', `${method} ${route} has no X-Idempotency-Key`);
  if (!takesBody && !JSON_TYPE.test(headers['content-type'] ?? '')) {
    recorder.violate(call, 'content-type', `${method} ${route} has the content type ${headers['content-type'] ?? '(none)'}`);
  }
  if (route === 'asample' && headers['x-tinker-sampling-backpressure'] !== '1') {
    recorder.violate(call, 'backpressure-header', 'X-Tinker-Sampling-Backpressure is not 1');
  }
  if (route === 'retrieveFuture') checkPollHeaders(recorder, call, headers);
}

function checkPollHeaders(recorder: Recorder, call: RecordedCall, headers: ServerRequest['headers']): void {
  const iteration = headers['x-tinker-request-iteration'];
  if (iteration === undefined || !/^\d+$/.test(iteration)) {
    recorder.violate(call, 'poll-iteration', `X-Tinker-Request-Iteration is ${iteration ?? 'missing'}`);
  }
  if (!headers['x-tinker-request-type']) recorder.violate(call, 'poll-request-type', 'X-Tinker-Request-Type is missing');
  const time = headers['x-tinker-create-promise-roundtrip-time'];
  const isFirst = iteration === undefined || Number(iteration) === 0;
  if (isFirst && (time === undefined || !Number.isFinite(Number(time)) || time.trim() === '')) {
    recorder.violate(call, 'poll-roundtrip-time', `X-Tinker-Create-Promise-Roundtrip-Time of poll 0 is ${time ?? 'missing'}`);
  } else if (!isFirst && time !== undefined) {
    recorder.violate(call, 'poll-roundtrip-time', `poll ${iteration} carries X-Tinker-Create-Promise-Roundtrip-Time`);
  }
}
