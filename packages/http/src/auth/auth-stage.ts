import { addHeaders } from '../pipeline/attempt-request.js';
import type { Middleware, Send } from '../pipeline/middleware.js';
import type { TransportRequest, TransportResponse } from '../transport/transport.js';
import type { AuthProvider } from './auth-provider.js';

/** Puts the credential on each attempt, as the last thing before the wire. */
export function authStage(auth: AuthProvider): Middleware {
  return (request, next) => {
    const current = auth.current?.();
    if (current !== undefined) return next(addHeaders(request, current));
    return resolveAndSend(auth, request, next);
  };
}

async function resolveAndSend(auth: AuthProvider, request: TransportRequest, next: Send): Promise<TransportResponse> {
  return next(addHeaders(request, await auth.headers(request.signal)));
}
