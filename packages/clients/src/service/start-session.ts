import { elapsedMs, publish } from '@tinkex/http';
import { redactText } from '@tinkex/types/wire';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { ServerMessage } from '../connection/connection-options.js';
import { notifyUser } from '../runtime/notify-user.js';
import type { Runtime } from '../runtime/runtime.js';
import { startHeartbeat } from './heartbeat.js';
import type { ResolvedOptions } from './resolve-options.js';

/** A server may be verbose, and may repeat a credential that it was sent. */
const MAX_MESSAGE_LENGTH = 10_000;

/** What a session uses of its client. */
export interface SessionParts {
  readonly runtime: Runtime;
  readonly calls: EndpointCaller;
}

/**
 * Creates a session and keeps it alive until the client is closed. The server's messages go to `onServerMessage`.
 *
 * @param onCreated - Called with the session's ID as soon as there is one: a message may make its reader close the client.
 * @returns The session's ID.
 */
export async function startSession(
  parts: SessionParts,
  options: ResolvedOptions,
  signal: AbortSignal,
  onCreated: (sessionId: string) => void,
): Promise<string> {
  const { clock, source, lifetime } = parts.runtime;
  const startedAt = clock.monotonicMs();
  const { tags, userMetadata, sdkVersion, projectId, displayName, onServerMessage } = options;
  const body = { tags, userMetadata, sdkVersion, projectId, displayName };
  const answer = await parts.calls.call('createSession', { body }, { signal });
  const { sessionId } = answer;
  onCreated(sessionId);
  for (const message of messagesOf(answer)) notifyUser(onServerMessage, message);
  const event = () => ({ ...source(), sessionId, durationMs: elapsedMs(clock, startedAt) });
  publish('tinkex:session:start', event());
  keepSessionAlive(parts, sessionId, options);
  lifetime.onClose(() => publish('tinkex:session:end', event()));
  return sessionId;
}

/** Sends a session's heartbeats until the client is closed. Also for a session that another process created. */
export function keepSessionAlive({ runtime, calls }: SessionParts, sessionId: string, options: ResolvedOptions): void {
  const { clock, lifetime, source } = runtime;
  const { heartbeatIntervalMs, onServerMessage } = options;
  startHeartbeat({
    clock,
    lifetime,
    intervalMs: heartbeatIntervalMs,
    beat: () => calls.call('sessionHeartbeat', { body: { sessionId } }),
    event: () => ({ ...source(), sessionId }),
    onSilence: (sinceLastSuccessMs) => {
      const seconds = Math.round(sinceLastSuccessMs / 1000);
      const text = `The server has answered no heartbeat for ${seconds} s; the session may be lost.`;
      notifyUser(onServerMessage, { level: 'warning', text });
    },
    onFinished: () => {
      const text = `The session ${sessionId} has finished on the server, which refuses further operations. Start a new client.`;
      notifyUser(onServerMessage, { level: 'warning', text });
    },
  });
}

function messagesOf(answer: {
  readonly infoMessage?: string | undefined;
  readonly warningMessage?: string | undefined;
  readonly errorMessage?: string | undefined;
}): ServerMessage[] {
  const messages: ServerMessage[] = [];
  const add = (level: ServerMessage['level'], text: string | undefined): void => {
    if (text) messages.push({ level, text: redactText(text, MAX_MESSAGE_LENGTH) });
  };
  add('info', answer.infoMessage);
  add('warning', answer.warningMessage);
  add('error', answer.errorMessage);
  return messages;
}
