import type { CheckpointFiles } from '../engine/engine.js';
import { errorReply, jsonReply, type ServerReply, type ServerRequest } from '../requests/message.js';
import { liveCheckpoint, type ServerContext, wallClockMs } from '../state/server-context.js';
import type { Tenant } from '../state/tenant.js';

/** The path of signed downloads. They need no credential: the signature is one. */
export const SIGNED_PREFIX = '/signed/';

/** Serves a checkpoint's archive or one of its files (with `Range`), or a session's trace. Answers 403 for a bad signature. */
export async function signedDownload(server: ServerContext, request: ServerRequest): Promise<ServerReply> {
  const { pathname, searchParams } = new URL(request.target, 'http://localhost');
  const expires = searchParams.get('expires');
  const content = expires === null ? pathname : `${pathname}?expires=${expires}`;
  if (!server.issuer.isSignature(content, searchParams.get('signature') ?? '')) return errorReply(403, 'The signature does not match');
  if (expires !== null && Number(expires) <= wallClockMs(server)) return errorReply(403, 'The URL has expired');
  const [, , kind = '', label = '', ...rest] = pathname.split('/').map(decodeURIComponent);
  const tenant = server.tenants.byLabel(label);
  if (tenant === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
    return errorReply(tenant === undefined ? 404 : 405, 'Not Found');
  }
  if (kind === 'trace') return trace(tenant, rest[0] ?? '');
  return kind === 'file' ? file(server, tenant, rest, request) : archive(server, tenant, rest[0] ?? '', request);
}

/** A signed URL, valid for `lifetimeMs`. */
export function signedUrl(
  server: ServerContext,
  resource: string,
  lifetimeMs: number,
): { readonly url: string; readonly expiresAtMs: number } {
  const expiresAtMs = wallClockMs(server) + lifetimeMs;
  const content = `${resource}?expires=${expiresAtMs}`;
  return { url: `${server.origin}${content}&signature=${server.issuer.sign(content)}`, expiresAtMs };
}

function trace(tenant: Tenant, sessionId: string): ServerReply {
  const models = [...tenant.models.values()].filter((model) => model.sessionId === sessionId);
  return jsonReply(200, {
    traceEvents: models.map(({ modelId, lastRequestMs }) => ({ name: modelId, ph: 'i', ts: lastRequestMs * 1000 })),
  });
}

async function archive(server: ServerContext, tenant: Tenant, path: string, request: ServerRequest): Promise<ServerReply> {
  const checkpoint = liveCheckpoint(server, tenant, path);
  if (checkpoint === undefined) return errorReply(404, 'The checkpoint does not exist');
  const bytes = await tarOf(checkpoint.files, checkpoint.savedAtMs);
  return rangedReply(request, bytes, 'application/x-tar', checkpoint.savedAtMs);
}

function file(server: ServerContext, tenant: Tenant, [path = '', name = '']: readonly string[], request: ServerRequest): ServerReply {
  const checkpoint = liveCheckpoint(server, tenant, path);
  const bytes = checkpoint?.files.get(name);
  if (checkpoint === undefined || bytes === undefined) return errorReply(404, 'The file does not exist');
  return rangedReply(request, bytes, 'application/octet-stream', checkpoint.savedAtMs);
}

/** The whole content, or the range that the request names if the client has the same version. */
function rangedReply(request: ServerRequest, bytes: Uint8Array, contentType: string, savedAtMs: number): ServerReply {
  const etag = `"${savedAtMs}-${bytes.length}"`;
  const headers = { 'content-type': contentType, 'accept-ranges': 'bytes', etag };
  const ifRange = request.headers['if-range'];
  const range = ifRange === undefined || ifRange === etag ? byteRange(request.headers['range'], bytes.length) : undefined;
  if (range === 'unsatisfiable') return errorReply(416, 'The range is outside the content', { 'content-range': `bytes */${bytes.length}` });
  if (range === undefined) return { status: 200, headers, body: bytes };
  const { start, end } = range;
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` },
    body: bytes.subarray(start, end),
  };
}

/** Packs files into a tar archive. The same files and time give the same bytes. Loads the library on first use. */
async function tarOf(files: CheckpointFiles, modifiedMs: number): Promise<Uint8Array> {
  const { packTar } = await import('modern-tar');
  const mtime = new Date(modifiedMs - (modifiedMs % 1000));
  return packTar([...files].map(([name, body]) => ({ header: { name, size: body.length, mtime, mode: 0o644 }, body })));
}

/** A part of a resource; `end` is exclusive. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a `Range` header with one range. Undefined for no range, or one that the server may ignore; `unsatisfiable` for one outside the resource.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (parts === null || (parts[1] === '' && parts[2] === '')) return undefined;
  const [, first = '', last = ''] = parts;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start >= size || end <= start ? 'unsatisfiable' : { start, end };
}
