import type { Clock } from '@tinkex/http';
import { VirtualClock } from '@tinkex/http/testing';
import { ClockShare } from '../clock/server-clock.js';
import { cannedEngine } from '../engine/canned-engine.js';
import { DEFAULT_BASE_MODEL, type Engine } from '../engine/engine.js';
import { learnEngine } from '../engine/learn-engine.js';
import { StateStore } from '../persistence/state-store.js';
import { Recorder } from '../recorder/recorder.js';
import { Executor } from '../state/executor.js';
import { IdMaker } from '../state/id-maker.js';
import { QueuePause } from '../state/queue-pause.js';
import type { ServerContext } from '../state/server-context.js';
import { NOTHING_KEPT, type StateChanges } from '../state/state-changes.js';
import { DEFAULT_API_KEY, TenantDirectory } from '../state/tenant-directory.js';
import { TokenIssuer } from '../state/token-issuer.js';
import { Core } from './core.js';
import { Interventions } from './interventions.js';
import { type OtherFront, otherFront } from './other-requests.js';
import type { ListenOptions, ServerSettings, TestServerOptions } from './server-options.js';
import { serverSettings } from './settings.js';
import { startFront } from './start-front.js';
import { TestServer } from './test-server.js';

/** Bytes of delivered results to keep for polls that repeat because a reply was lost. */
const MAX_DELIVERED_BYTES = 64 << 20;
const MEMORY_ORIGIN = 'http://tinkex.test';

/**
 * Creates a server without a socket: call `handle`, give `memoryTransport(server)` to a client, or `handlers(server)` to msw.
 * Throws `ConfigurationError` for invalid options. For `stateDir` use `startServer()`.
 */
export function createTestServer(options: Omit<TestServerOptions, 'stateDir'> = {}): TestServer {
  const { core, interventions, apiKey } = buildCore(options);
  core.server.origin = MEMORY_ORIGIN;
  return new TestServer({
    core,
    interventions,
    apiKey,
    url: `${MEMORY_ORIGIN}${core.server.settings.basePath}`,
    onClose: async () => undefined,
  });
}

/**
 * Starts a server on loopback and resolves when it listens. Close it, or use `await using`. An open server does not keep the process alive.
 *
 * @example
 * await using server = await startServer();
 * const service = new ServiceClient(server.clientOptions);
 */
export async function startServer(options: TestServerOptions & ListenOptions = {}): Promise<TestServer> {
  const { core, interventions, apiKey, store } = buildCore(options);
  await store?.load(core.server);
  try {
    return await listen(core, interventions, apiKey, store, options);
  } catch (error) {
    await store?.close();
    throw error;
  }
}

async function listen(
  core: Core,
  interventions: Interventions,
  apiKey: string,
  store: StateStore | undefined,
  options: TestServerOptions & ListenOptions,
): Promise<TestServer> {
  let server: TestServer | undefined;
  const { front, origin } = await startFront(
    {
      clock: core.server.clock,
      maxBodyBytes: core.server.settings.maxBodyBytes,
      answer: (request) => (server ?? core).answer(request),
      tooLarge: (request) => core.refuseTooLarge(request),
      answerOther: answerOther(core, options),
    },
    options,
  );
  core.server.origin = origin;
  const url = `${origin}${core.server.settings.basePath}`;
  server = new TestServer({ core, interventions, apiKey, url, front, onClose: async () => store?.close() });
  return server;
}

function answerOther(core: Core, { otherRequests }: ListenOptions): OtherFront | undefined {
  const { basePath } = core.server.settings;
  const onFailure = (error: unknown): Response => {
    const { status, headers, body } = core.replyTo(error);
    return new Response(body, { status, headers });
  };
  return otherRequests === undefined ? undefined : otherFront({ otherRequests, basePath, onFailure });
}

function buildCore(options: TestServerOptions): {
  readonly core: Core;
  readonly interventions: Interventions;
  readonly apiKey: string;
  readonly store: StateStore | undefined;
} {
  const settings = serverSettings(options);
  // On a virtual clock the server's timers are counted apart from the client's: only the client's are leaks.
  const clock = settings.clock instanceof VirtualClock ? new ClockShare(settings.clock) : settings.clock;
  const interventions = new Interventions(clock);
  const pause = new QueuePause();
  const store = options.stateDir === undefined ? undefined : new StateStore(options.stateDir, settings.durability);
  const changes = store ?? NOTHING_KEPT;
  const server: ServerContext = {
    settings,
    clock,
    dialect: settings.dialect,
    engine: resolveEngine(options),
    tenants: tenantsOf(settings, clock, changes),
    executor: new Executor({
      clock,
      executionMs: settings.executionMs,
      pause,
      gate: (route) => interventions.gateAt(route, 'execution'),
      changes,
    }),
    issuer: new TokenIssuer(),
    ids: new IdMaker(settings.dialect.ids),
    pause,
    origin: '',
    changes,
  };
  const { recorderLimit: limit, ignoreRules: ignoredRules } = settings;
  const recorder = new Recorder({ clock, limit, ignoredRules, onCall: options.onCall });
  return { core: new Core(server, recorder, interventions), interventions, apiKey: options.apiKeys?.[0] ?? DEFAULT_API_KEY, store };
}

function tenantsOf(settings: ServerSettings, clock: Clock, changes: StateChanges): TenantDirectory {
  return new TenantDirectory({
    clock,
    changes,
    limits: { retentionMs: settings.retentionMs, maxDeliveredBytes: MAX_DELIVERED_BYTES },
    apiKeys: settings.apiKeys,
    keys: settings.dialect.keys,
  });
}

function resolveEngine({ engine = 'learn', baseModels = [], anyModel, samplingSeed, sampledLogprobs }: TestServerOptions): Engine {
  if (typeof engine !== 'string') return engine;
  return engine === 'canned'
    ? cannedEngine({ baseModels, anyModel })
    : learnEngine({ models: [DEFAULT_BASE_MODEL, ...baseModels], anyModel, seed: samplingSeed, sampledLogprobs });
}
