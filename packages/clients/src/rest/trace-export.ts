import { sleep } from '@tinkex/http';
import { RequestFailedError, ValidationError } from '@tinkex/types';
import type { CallOptions } from '../calls/call-options.js';
import { CallScope } from '../calls/call-scope.js';
import type { Connection } from '../service/connection.js';

const POLL_INTERVAL_MS = 5_000;

/** Has the server build a session's trace and returns its signed URL, asking every five seconds until it is ready. */
export async function exportTrace(connection: Connection, sessionId: string, options: CallOptions): Promise<string> {
  const { clock, lifetime } = connection;
  const scope = new CallScope(clock, lifetime, options);
  const { signal } = scope;
  const { headers } = options;
  try {
    for (;;) {
      const call = { signal, ...(headers === undefined ? {} : { headers }) };
      const { status, url, error } = await connection.call('exportSessionTrace', { params: { sessionId } }, call);
      if (status === 'failed') {
        throw new RequestFailedError({ message: `The trace of session ${sessionId} could not be exported: ${error ?? 'no reason given'}` });
      }
      if (status === 'ready') return urlOf(url);
      await sleep(clock, POLL_INTERVAL_MS, signal);
    }
  } catch (error) {
    throw scope.explain(error);
  } finally {
    scope.end();
  }
}

function urlOf(url: string | undefined): string {
  if (url !== undefined) return url;
  const issues = [{ path: 'url', message: 'is missing, although the trace is ready' }];
  throw new ValidationError({ direction: 'response', subject: 'TraceExportResponse', issues });
}
