import type { Inspector } from '@tinkex/inspector';

/** The page that the terminal names, if there is one. */
export type ServedPage = Pick<Inspector, 'handle' | 'path'> | undefined;

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/plain; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/**
 * Answers for `tinkex serve` beside the Tinker API: the page of runs under its token, and at `/` a text that gives nothing away. Leaves everything
 * else to the API, which refuses it: so a client with a wrong base URL gets the error that it expects.
 */
export function answerBesideApi(request: Request, page: ServedPage): Promise<Response> | Response | undefined {
  const { pathname } = new URL(request.url);
  if (page !== undefined && isUnderToken(pathname, page)) return page.handle(request);
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  if (pathname === '/') return new Response(welcome(page), { headers: HEADERS });
  // Browsers ask for it by themselves.
  return pathname === '/favicon.ico' ? new Response(null, { status: 204, headers: HEADERS }) : undefined;
}

/** Whether a path starts with something as long as the token. The page itself compares the two, in constant time. */
function isUnderToken(pathname: string, page: { readonly path: string }): boolean {
  const [, first = ''] = pathname.split('/');
  return first.length === page.path.length - '//'.length;
}

function welcome(page: ServedPage): string {
  const lines = [
    'This is `tinkex serve`: a Tinker server on this machine.',
    'To use it, set TINKER_BASE_URL and TINKER_API_KEY as the terminal has printed them.',
  ];
  if (page !== undefined) lines.push('To see runs, open the address that the terminal has printed. It has a secret token.');
  return `${lines.join('\n')}\n`;
}
