import { errorReply, jsonReply, type ServerReply } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';
import type { ChaosStatus } from './chaos.js';

/** The answer that chaos gives in place of the server's. */
export function chaosReply(kind: ChaosStatus, route: RouteName): ServerReply {
  switch (kind) {
    case 'status-400-blank':
      return { status: 400, headers: {}, body: '' };
    case 'status-408':
      return route === 'retrieveFuture'
        ? jsonReply(408, { type: 'try_again', queue_state: 'active' })
        : errorReply(408, 'Made up by chaos: request timeout');
    case 'status-429':
      return errorReply(429, 'Made up by chaos: too many requests', { 'retry-after-ms': '5' });
    default: {
      const status = Number(kind.slice('status-'.length));
      return errorReply(status, `Made up by chaos: status ${status}`);
    }
  }
}
