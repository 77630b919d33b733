import { REFERENCE_SDK_VERSION } from '@tinkex/http';
import type { RecordedCall } from '../recorder/recorded-call.js';

/** The first version whose requests the `hosted` dialect takes: older ones send JSON where it reads protobuf. */
const OLDEST_VERSION = '0.25.0';

/** Programs may put anything into a header; no more than these are remembered. */
const MAX_CLIENTS = 1_000;

/** The clients that called, by the name and version in their headers. */
export class SeenClients {
  readonly #seen = new Set<string>();

  /** A line about the client of a call; undefined if the client is not new, or does not say which it is. */
  introduce({ headers }: RecordedCall): string | undefined {
    const { 'user-agent': agent = '', 'x-stainless-package-version': version } = headers;
    if (version === undefined) return undefined;
    const client = agent.endsWith(` ${version}`) ? agent : `${agent} with the protocol of SDK ${version}`;
    if (this.#seen.has(client) || this.#seen.size >= MAX_CLIENTS) return undefined;
    this.#seen.add(client);
    return `Client: ${client}${comparedWithServer(version)}`;
  }
}

function comparedWithServer(version: string): string {
  if (compareVersions(version, REFERENCE_SDK_VERSION) > 0) {
    return `, newer than the ${REFERENCE_SDK_VERSION} that this server follows: see the notices about fields that it does not know`;
  }
  return compareVersions(version, OLDEST_VERSION) < 0 ? `, older than ${OLDEST_VERSION}: it needs --dialect both` : '';
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
