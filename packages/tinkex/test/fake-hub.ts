import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to a hub. */
export interface HubRequest {
  readonly route: string;
  readonly body: string;
  readonly token: string | undefined;
}

/** A hub of models on loopback: it knows one user, and has the repositories that are pushed to it. */
export interface FakeHub extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly HubRequest[];
  /** Model cards by repository. */
  readonly cards: Map<string, string>;
  /** Forgets the requests. */
  clear(): void;
}

/** Starts one. */
export async function startFakeHub(): Promise<FakeHub> {
  const requests: HubRequest[] = [];
  const cards = new Map<string, string>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const route = `${request.method} ${request.url}`;
    requests.push({ route, body, token: request.headers.authorization });
    const answer = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    const readme = /^GET \/([^/]+\/[^/]+)\/(?:resolve|raw)\/[^/]+\/README\.md/.exec(route)?.[1];
    if (readme !== undefined) {
      const card = cards.get(readme);
      if (card === undefined) answer(404, { error: 'Entry not found' });
      else
        response
          .writeHead(request.headers.range === undefined ? 200 : 206, {
            etag: '"one"',
            'content-length': Buffer.byteLength(card),
            'content-range': `bytes 0-${Buffer.byteLength(card) - 1}/${Buffer.byteLength(card)}`,
          })
          .end(card);
    } else if (route.startsWith('GET /api/whoami')) answer(200, { type: 'user', name: 'me', id: '1', auth: { type: 'access_token' } });
    else if (route.includes('/preupload/')) {
      const { files } = JSON.parse(body) as { files: { path: string }[] };
      answer(200, { files: files.map(({ path }) => ({ path, uploadMode: 'regular', shouldIgnore: false })) });
    } else if (route.includes('/commit/'))
      answer(200, { commitOid: 'abc', commitUrl: 'https://hub.example/abc', hookOutput: '', success: true });
    else if (route === 'POST /api/repos/create') answer(200, { url: 'https://hub.example/me', id: '1', name: 'me' });
    else if (route.includes('/branch/')) answer(200, {});
    else answer(404, { error: 'not here' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    cards,
    clear: () => requests.splice(0),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
