import { publish } from '@tinkex/http';
import { type EventSource, TinkexError } from '@tinkex/types';

/** What happened to a watched run. */
export type RecoveryEvent<Client> =
  | { readonly type: 'broken'; readonly trainingRunId: string }
  | { readonly type: 'attempt'; readonly trainingRunId: string; readonly attempt: number; readonly checkpointPath: string }
  | { readonly type: 'attempt_failed'; readonly trainingRunId: string; readonly attempt: number; readonly error: unknown }
  | {
      readonly type: 'recovered';
      readonly trainingRunId: string;
      readonly attempt: number;
      readonly checkpointPath: string;
      readonly client: Client;
    }
  | { readonly type: 'given_up'; readonly trainingRunId: string; readonly error: unknown }
  | { readonly type: 'watch_failed'; readonly trainingRunId: string; readonly error: unknown };

/** Publishes an event of a monitor on the channel that has its type's name, without the new client. */
export function publishRecovery(source: EventSource, event: RecoveryEvent<unknown>, durationMs: number | undefined): void {
  const { type, trainingRunId } = event;
  const common = { trainingRunId, durationMs, ...source };
  if (type === 'broken') publish('tinkex:recovery:broken', common);
  else if (type === 'attempt' || type === 'recovered') {
    publish(`tinkex:recovery:${type}`, { ...common, attempt: event.attempt - 1, path: event.checkpointPath });
  } else {
    const attempt = type === 'attempt_failed' ? { attempt: event.attempt - 1 } : {};
    publish(`tinkex:recovery:${type}`, { ...common, ...attempt, ...failureOf(event.error) });
  }
}

function failureOf(error: unknown): { errorCode: string; errorName: string } {
  return {
    errorCode: TinkexError.isInstance(error) ? error.code : 'UNKNOWN',
    errorName: error instanceof Error ? error.name : typeof error,
  };
}
