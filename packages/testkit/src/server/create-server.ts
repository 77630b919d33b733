import type { Clock } from '@tinkex/http';
import { VirtualClock } from '@tinkex/http/testing';
import { cannedEngine, DEFAULT_BASE_MODEL } from '../canned/canned-engine.js';
import { ClockShare } from '../clock/clock-share.js';
import type { Engine } from '../engine/engine.js';
import { learnEngine } from '../engine/index.js';
import { StateStore } from '../persistence/state-store.js';
import { Recorder } from '../recorder/recorder.js';
import { Executor } from '../state/executor.js';
import { IdMaker } from '../state/id-maker.js';
import { QueuePause } from '../state/queue-pause.js';
import type { ServerContext } from '../state/server-context.js';
import { DEFAULT_API_KEY, TenantDirectory } from '../state/tenant-directory.js';
import { TokenIssuer } from '../state/token-issuer.js';
import { Core } from './core.js';
import { NodeFront } from './node-front.js';
import type { ListenOptions, ServerSettings, TestServerOptions } from './server-options.js';
import { serverSettings } from './settings.js';
import { Stage } from './stage.js';
import { TestServer } from './test-server.js';

/** Bytes of delivered results kept for polls that are repeated because a reply was lost. */
const MAX_DELIVERED_BYTES = 64 << 20;
const MEMORY_ORIGIN = 'http://tinkex.test';

/**
 * A server without a socket: call `handle`, or put `memoryTransport(server)` under a client, or `handlers(server)` into msw.
 * Throws `ConfigurationError` for impossible options; `stateDir` is for `startServer()` only.
 */
export function createTestServer(options: Omit<TestServerOptions, 'stateDir'> = {}): TestServer {
  const { core, stage, apiKey } = buildCore(options);
  core.context.origin = MEMORY_ORIGIN;
  return new TestServer({ core, stage, apiKey, url: `${MEMORY_ORIGIN}${core.context.settings.basePath}`, onClose: async () => undefined });
}

/**
 * A server on loopback. Resolves when it listens. Close it, or use `await using`; a forgotten one keeps no process alive.
 *
 * @example
 * await using server = await startServer();
 * const service = new ServiceClient(server.clientOptions);
 */
export async function startServer(options: TestServerOptions & ListenOptions = {}): Promise<TestServer> {
  const { core, stage, apiKey, store } = buildCore(options);
  await store?.load(core.context);
  const front = new NodeFront({
    clock: core.context.clock,
    maxBodyBytes: core.context.settings.maxBodyBytes,
    answer: (request) => core.answer(request),
    tooLarge: (request) => core.refuseTooLarge(request),
  });
  const { port = 0, host = '127.0.0.1' } = options;
  await front.listen(port, host);
  const name = host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host;
  core.context.origin = `http://${name}:${front.port}`;
  const url = `${core.context.origin}${core.context.settings.basePath}`;
  return new TestServer({ core, stage, apiKey, url, front, onClose: async () => store?.save(core.context) });
}

function buildCore(options: TestServerOptions): {
  readonly core: Core;
  readonly stage: Stage;
  readonly apiKey: string;
  readonly store: StateStore | undefined;
} {
  const settings = serverSettings(options);
  // On a virtual clock the server's timers are told from the client's: only those of the client are leaks.
  const clock = settings.clock instanceof VirtualClock ? new ClockShare(settings.clock) : settings.clock;
  const stage = new Stage(clock);
  const pause = new QueuePause();
  const store = options.stateDir === undefined ? undefined : new StateStore(options.stateDir);
  const context: ServerContext = {
    settings,
    clock,
    dialect: settings.dialect,
    engine: resolveEngine(options),
    tenants: tenantsOf(settings, clock),
    executor: new Executor({ clock, executionMs: settings.executionMs, pause, gate: (route) => stage.gateAt(route, 'execution') }),
    issuer: new TokenIssuer(),
    ids: new IdMaker(settings.dialect.ids),
    pause,
    origin: '',
    changed: () => store?.schedule(context),
  };
  const { recorderLimit: limit, ignoreRules: ignoredRules } = settings;
  const recorder = new Recorder({ clock, limit, ignoredRules, ...(options.onCall === undefined ? {} : { onCall: options.onCall }) });
  return { core: new Core(context, recorder, stage), stage, apiKey: options.apiKeys?.[0] ?? DEFAULT_API_KEY, store };
}

function tenantsOf(settings: ServerSettings, clock: Clock): TenantDirectory {
  return new TenantDirectory({
    clock,
    limits: { retentionMs: settings.retentionMs, maxDeliveredBytes: MAX_DELIVERED_BYTES },
    apiKeys: settings.apiKeys,
    keys: settings.dialect.keys,
  });
}

function resolveEngine({ engine = 'learn', baseModels = [] }: TestServerOptions): Engine {
  if (typeof engine !== 'string') {
    return engine;
  }
  return engine === 'canned' ? cannedEngine({ baseModels }) : learnEngine({ models: [...new Set([DEFAULT_BASE_MODEL, ...baseModels])] });
}
