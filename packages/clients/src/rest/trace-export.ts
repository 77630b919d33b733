import { sleep } from '@tinkex/http';
import { RequestFailedError, ValidationError } from '@tinkex/types';
import type { CallStep } from '../runtime/call-options.js';
import type { ArchiveUrlParts } from './archive-url.js';

const POLL_INTERVAL_MS = 5_000;

/** Has the server build a session's trace and returns its signed URL. Polls every five seconds until it is ready. */
export async function exportTrace(
  { calls, runtime }: Pick<ArchiveUrlParts, 'calls' | 'runtime'>,
  sessionId: string,
  step: CallStep,
): Promise<string> {
  for (;;) {
    const { status, url, error } = await calls.call('exportSessionTrace', { params: { sessionId } }, step);
    if (status === 'failed') {
      throw new RequestFailedError({ message: `The trace of session ${sessionId} could not be exported: ${error ?? 'no reason given'}` });
    }
    if (status === 'ready') return urlOf(url);
    await sleep(runtime.clock, POLL_INTERVAL_MS, step.signal);
  }
}

function urlOf(url: string | undefined): string {
  if (url !== undefined) return url;
  const issues = [{ path: 'url', message: 'is missing, although the trace is ready' }];
  throw new ValidationError({ direction: 'response', subject: 'TraceExportResponse', issues });
}
