import { publish } from '@tinkex/http';
import { tellUser } from '../runtime/notify-user.js';
import type { Connection } from './connection.js';
import type { ResolvedOptions } from './resolve-options.js';
import type { ServerMessage } from './service-options.js';
import { startHeartbeat } from './heartbeat.js';

/**
 * Creates a session and keeps it alive until the client is closed. What the server has to tell goes to `onServerMessage`.
 *
 * @returns The session's id.
 */
export async function startSession(connection: Connection, options: ResolvedOptions, signal: AbortSignal): Promise<string> {
  const { clock } = connection;
  const startedAtMs = clock.now();
  const { tags, userMetadata, sdkVersion, projectId, onServerMessage } = options;
  const body = { tags, userMetadata, sdkVersion, ...(projectId === undefined ? {} : { projectId }) };
  const answer = await connection.call('createSession', { body }, { signal });
  const { sessionId } = answer;
  for (const message of messagesOf(answer)) tellUser(onServerMessage, message);
  const event = () => ({ ...connection.source(), sessionId });
  publish('tinkex:session:start', { ...event(), durationMs: clock.now() - startedAtMs });
  keepSessionAlive(connection, sessionId, options);
  connection.lifetime.onClose(() => publish('tinkex:session:end', { ...event(), durationMs: clock.now() - startedAtMs }));
  return sessionId;
}

/** Sends a session's heartbeats until the client is closed. Also for a session that another process created. */
export function keepSessionAlive(connection: Connection, sessionId: string, options: ResolvedOptions): void {
  const { heartbeatIntervalMs, onServerMessage } = options;
  startHeartbeat({
    clock: connection.clock,
    lifetime: connection.lifetime,
    intervalMs: heartbeatIntervalMs,
    beat: () => connection.call('sessionHeartbeat', { body: { sessionId } }),
    event: () => ({ ...connection.source(), sessionId }),
    onSilence: (sinceLastSuccessMs) => {
      const seconds = Math.round(sinceLastSuccessMs / 1000);
      tellUser(onServerMessage, {
        level: 'warning',
        text: `The server has answered no heartbeat for ${seconds} s; the session may be lost.`,
      });
    },
  });
}

function messagesOf(answer: CreateSessionResponse): ServerMessage[] {
  const messages: ServerMessage[] = [];
  if (answer.infoMessage) messages.push({ level: 'info', text: answer.infoMessage });
  if (answer.warningMessage) messages.push({ level: 'warning', text: answer.warningMessage });
  if (answer.errorMessage) messages.push({ level: 'error', text: answer.errorMessage });
  return messages;
}
