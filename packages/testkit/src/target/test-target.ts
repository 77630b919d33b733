import type { Transport } from '@tinkex/http';
import { ConfigurationError } from '@tinkex/types';
import { DEFAULT_BASE_MODEL } from '../engine/engine.js';
import { createTestServer, startServer } from '../server/create-server.js';
import { memoryTransport } from '../server/memory-transport.js';
import type { TestServerOptions } from '../server/server-options.js';
import type { TestServer } from '../server/test-server.js';
import { targetEnvironment } from './environment.js';

/** Where a test runs: against the embedded server on real sockets, the same in memory, or a remote server. */
export type TargetKind = 'loopback' | 'memory' | 'remote';

/** Options of {@link createTestTarget}. */
export interface TestTargetOptions extends Omit<TestServerOptions, 'stateDir'> {
  /** Default: `TINKEX_TEST_TARGET`; else `remote` when `TINKEX_TEST_BASE_URL` is set; else `loopback`. */
  readonly kind?: TargetKind | undefined;
}

/** A server to run a test against. */
export interface TestTarget {
  readonly kind: TargetKind;
  /** Options for a client; `memory` includes the transport. */
  readonly clientOptions: { readonly baseUrl: string; readonly apiKey: string; readonly transport?: Transport | undefined };
  /** A base model of the target. */
  readonly baseModel: string;
  /** The embedded server; undefined for `remote`. */
  readonly server: TestServer | undefined;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Runs a test against the embedded server by default, or against a remote one when the environment names it:
 * `TINKEX_TEST_BASE_URL`, `TINKEX_TEST_API_KEY`, `TINKEX_TEST_BASE_MODEL`. Throws `ConfigurationError` when a remote target
 * lacks one of them.
 */
export async function createTestTarget(options: TestTargetOptions = {}): Promise<TestTarget> {
  const environment = targetEnvironment();
  const { kind = environment.target ?? (environment.baseUrl === undefined ? 'loopback' : 'remote'), ...serverOptions } = options;
  switch (kind) {
    case 'loopback': {
      const server = await startServer(serverOptions);
      return target(kind, server.clientOptions, embeddedModel(options), server);
    }
    case 'memory': {
      const server = createTestServer(serverOptions);
      return target(kind, { ...server.clientOptions, transport: memoryTransport(server) }, embeddedModel(options), server);
    }
    case 'remote':
      return target(
        kind,
        {
          baseUrl: required(environment.baseUrl, 'baseUrl', 'TINKEX_TEST_BASE_URL'),
          apiKey: required(environment.apiKey, 'apiKey', 'TINKEX_TEST_API_KEY'),
        },
        required(environment.baseModel, 'baseModel', 'TINKEX_TEST_BASE_MODEL'),
        undefined,
      );
    default:
      throw new ConfigurationError({
        message: `There is no test target ${JSON.stringify(kind)}; choose loopback, memory or remote.`,
        option: 'kind',
        environmentVariable: 'TINKEX_TEST_TARGET',
      });
  }
}

/** The built-in engines share one base model; your own engine may have others. */
function embeddedModel({ engine }: TestTargetOptions): string {
  return (typeof engine === 'object' ? engine.supportedModels[0]?.modelName : undefined) ?? DEFAULT_BASE_MODEL;
}

function target(
  kind: TargetKind,
  clientOptions: TestTarget['clientOptions'],
  baseModel: string,
  server: TestServer | undefined,
): TestTarget {
  const close = async (): Promise<void> => server?.close();
  return { kind, clientOptions, baseModel, server, close, [Symbol.asyncDispose]: close };
}

function required(value: string | undefined, option: string, environmentVariable: string): string {
  if (value === undefined) {
    throw new ConfigurationError({ message: `A remote test target needs ${environmentVariable}.`, option, environmentVariable });
  }
  return value;
}
