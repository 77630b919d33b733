import diagnostics from 'node:diagnostics_channel';

/** Notes the memory of every forward/backward body that goes out, in order, until the function it returns is called. */
export function watchBodies(): () => ArrayBufferLike[] {
  const seen: ArrayBufferLike[] = [];
  const note = (message: unknown): void => {
    const { path, body } = (message as { request: { path: string; body: Uint8Array | null } }).request;
    if (path.endsWith('/forward_backward') && body !== null) seen.push(body.buffer);
  };
  diagnostics.subscribe('undici:request:create', note);
  return () => {
    diagnostics.unsubscribe('undici:request:create', note);
    return seen;
  };
}
