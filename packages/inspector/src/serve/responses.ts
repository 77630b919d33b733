/** Nothing but the page's own files, no inline code, no other site, no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/** The response with the headers that every answer of the inspector has. */
export function secured(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
  return response;
}

/** A message for a person. */
export function plainResponse(status: number, message: string): Response {
  return new Response(`${message}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

/** A failure for the page. */
export function problemResponse(status: number, message: string): Response {
  return Response.json({ error: message }, { status });
}

/** A file that the browser saves. */
export function fileResponse(content: string, name: string, type: string): Response {
  const safeName = name.replace(/[^\w.-]+/g, '-');
  return new Response(content, { headers: { 'content-type': type, 'content-disposition': `attachment; filename="${safeName}"` } });
}
