import { randomBytes } from 'node:crypto';
import { type Clock, onAbort, systemClock } from '@tinkex/http';
import { ConfigurationError } from '@tinkex/types';
import type { ChatCallback, DownloadCallback } from '../api/chat.js';
import type { Features } from '../api/run-views.js';
import { FolderSource } from '../runs/folder-source.js';
import type { RunSource } from '../runs/inspected-run.js';
import type { ProtocolSource } from '../runs/recorded-run.js';
import { checkAccess } from './access.js';
import { answerChat } from './chat-route.js';
import { answerDownload } from './download-route.js';
import { servePageFile } from './page-files.js';
import { answerReport } from './report-route.js';
import { problemResponse, secured } from './responses.js';
import { RunRegistry } from './run-registry.js';
import { answerRun } from './run-routes.js';
import { updateStream } from './update-stream.js';

/** What the page shows, and what it may do. */
export interface InspectorOptions {
  /** Run folders, or folders with run folders in them. They may be empty, may grow, and may appear later. */
  readonly folders?: readonly string[] | undefined;
  /** Samples from a model. Default: the playground is off. `openAiChat` makes one of a gateway. */
  readonly chat?: ChatCallback | undefined;
  /** Models that the playground offers besides the checkpoints of the runs. */
  readonly models?: readonly string[] | undefined;
  /** Downloads a checkpoint and returns where it is. Default: there is no such button. */
  readonly download?: DownloadCallback | undefined;
  /** Broken rules and notices of a test server. A `TestServer` of `@tinkex/testkit` is one. */
  readonly protocol?: ProtocolSource | undefined;
  /** Whether texts and tokens are recorded and shown: rollouts, examples. Default false. */
  readonly includeContent?: boolean | undefined;
  /** The secret in the page's address. Default: a random one; `false` for none, where something else protects the page. */
  readonly token?: string | false | undefined;
  /** Host names that requests may use, besides the loopback ones. Default: none. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** The page and its data, as a fetch-style handler. */
export interface Inspector {
  /** Answers a request. Never rejects. */
  handle(request: Request): Promise<Response>;
  /** Where the page is: `/`, or `/TOKEN/`. */
  readonly path: string;
  /** Ends the streams to open pages. Idempotent. */
  close(): void;
}

/** {@link InspectorOptions} with the sources that only this package makes. */
export interface InspectorParts extends InspectorOptions {
  readonly sources?: readonly RunSource[] | undefined;
}

const RUN_PATH = /^\/api\/runs\/([\w-]+)\/([\w.-]+)$/;
const TOKEN = /^[\w-]{8,}$/;

/**
 * The inspector for any web server: pass it the requests under its `path`. {@link inspectFolder} and {@link attachInspector} give it a separate port.
 *
 * @throws ConfigurationError if the token has characters that an address does not take, or too few.
 *
 * @example
 * ```ts
 * import { startFetchServer } from '@tinkex/http/server';
 * import { createInspector } from '@tinkex/inspector';
 *
 * export async function watch() {
 *   const inspector = createInspector({ folders: ['runs'] });
 *   const server = await startFetchServer((request) => inspector.handle(request));
 *   console.log(server.url + inspector.path);
 *   return server;
 * }
 * ```
 */
export function createInspector(options: InspectorOptions = {}): Inspector {
  return assembleInspector(options);
}

/** {@link createInspector} with more sources. */
export function assembleInspector(options: InspectorParts): Inspector {
  const { clock = systemClock, chat, download, protocol, includeContent = false, allowedHosts = [], models = [] } = options;
  const token = options.token === false ? undefined : (options.token ?? randomBytes(18).toString('base64url'));
  if (token !== undefined && !TOKEN.test(token)) {
    throw new ConfigurationError({ option: 'token', message: 'token must have at least 8 letters, digits, "-" or "_".' });
  }
  const folders = (options.folders ?? []).map((folder) => new FolderSource(folder));
  const registry = new RunRegistry([...(options.sources ?? []), ...folders], clock);
  const closed = new AbortController();
  const features: Features = { canChat: chat !== undefined, canDownload: download !== undefined, hasContent: includeContent, models };

  async function answer(request: Request, path: string): Promise<Response> {
    const { method, signal } = request;
    if (method === 'POST' && path === '/api/chat') return answerChat(request, chat);
    if (method === 'POST' && path === '/api/download') return answerDownload(request, download);
    if (method !== 'GET' && method !== 'HEAD') return problemResponse(405, `There is no ${method} ${path} here.`);
    const file = await servePageFile(path);
    if (file !== undefined) return file;
    if (path === '/api/stream')
      return updateStream({ registry, features: () => features, clock, signal: eitherSignal(signal, closed.signal) });
    if (path === '/api/protocol') return Response.json(protocolReport(protocol));
    await registry.refresh();
    const query = new URL(request.url).searchParams;
    if (path === '/report.html') return answerReport(registry, features, query, clock.wallMs());
    const [, id = '', name = ''] = RUN_PATH.exec(path) ?? [];
    const run = registry.find(id);
    const found = run === undefined ? undefined : answerRun(name, { run, query, hasContent: includeContent });
    return (await found) ?? problemResponse(404, 'There is nothing here.');
  }

  async function handle(request: Request): Promise<Response> {
    try {
      const access = checkAccess(request, { token, allowedHosts });
      return secured(access.refusal ?? (await answer(request, access.path)));
    } catch {
      return secured(problemResponse(500, 'The inspector failed to answer.'));
    }
  }

  return { handle, path: token === undefined ? '/' : `/${token}/`, close: () => closed.abort() };
}

function protocolReport(protocol: ProtocolSource | undefined): object {
  return {
    brokenRules: (protocol?.violations ?? []).map(({ rule, text, detail, url }) => ({ rule, text, detail, url })),
    notices: (protocol?.notices ?? []).map(({ detail }) => detail),
  };
}

/** Aborts with the first of two signals. `AbortSignal.any` leaks on Node 20. */
function eitherSignal(request: AbortSignal, closed: AbortSignal): AbortSignal {
  const either = new AbortController();
  const releases: (() => void)[] = [];
  const abort = (): void => {
    for (const release of releases) release();
    either.abort();
  };
  if (request.aborted || closed.aborted) abort();
  else releases.push(onAbort(request, abort), onAbort(closed, abort));
  return either.signal;
}
