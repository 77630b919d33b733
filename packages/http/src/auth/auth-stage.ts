import { withHeaders } from '../pipeline/attempt-request.js';
import type { Middleware } from '../pipeline/middleware.js';
import type { AuthProvider } from './auth-provider.js';

/** Puts the credential on each attempt, as the last thing before the wire. */
export function authStage(auth: AuthProvider): Middleware {
  return (request, next) => {
    const current = auth.current?.();
    if (current !== undefined) return next(withHeaders(request, { ...request.headers, ...current }));
    return resolveAndSend(auth, request, next);
  };
}

const resolveAndSend = async (auth: AuthProvider, request: Parameters<Middleware>[0], next: Parameters<Middleware>[1]): ReturnType<Middleware> => {
  const headers = await auth.headers(request.signal);
  return next(withHeaders(request, { ...request.headers, ...headers }));
};
