import type { JsonValue } from '@tinkex/types';
import { stringifyJson } from '@tinkex/types/wire';
import type { ServerReply } from '../requests/message.js';
import type { RecordedExchange } from './exchange.js';
import type { ExchangeFolder } from './exchange-folder.js';
import { matchKey } from './match-key.js';
import type { ArrivedRequest } from './record-exchange.js';

interface Answers {
  readonly exchanges: RecordedExchange[];
  taken: number;
}

/**
 * The exchanges in a folder, found by their requests. The n-th request of a kind gets the n-th answer to it; further ones get the last
 * again, because a client may poll more often than the one that was recorded.
 */
export class Recording {
  readonly #folder: ExchangeFolder;
  readonly #answers = new Map<string, Answers>();

  private constructor(folder: ExchangeFolder) {
    this.#folder = folder;
  }

  /** Reads the folder. */
  static async open(folder: ExchangeFolder): Promise<Recording> {
    const recording = new Recording(folder);
    for (const exchange of await folder.read()) await recording.#add(exchange);
    return recording;
  }

  get isEmpty(): boolean {
    return this.#answers.size === 0;
  }

  /** The next answer to a request; undefined when there is none. */
  async take({ raw, route, target, content }: ArrivedRequest): Promise<ServerReply | undefined> {
    const answers = this.#answers.get(matchKey({ route, method: raw.method, target, content }));
    const exchange = answers?.exchanges[Math.min(answers.taken, answers.exchanges.length - 1)];
    if (answers === undefined || exchange === undefined) return undefined;
    answers.taken += 1;
    const { status, headers, body } = exchange.response;
    return { status, headers: { ...headers }, body: await this.#bodyOf(body) };
  }

  /** Why a request has no answer. */
  explainMiss({ raw, route, target }: ArrivedRequest): string {
    const alike = [...this.#answers.values()]
      .flatMap(({ exchanges }) => exchanges)
      .filter(({ request }) => request.target === target && request.method === raw.method);
    const reason = alike.length === 0 ? 'no request to this path' : `${alike.length} to this path, with other bodies`;
    return `There is no recorded answer to ${raw.method} ${target}${route === undefined ? '' : ` (${route})`}: the recording has ${reason}`;
  }

  async #add(exchange: RecordedExchange): Promise<void> {
    const { method, target } = exchange.request;
    const key = matchKey({ route: exchange.route ?? undefined, method, target, content: await this.#contentOf(exchange) });
    const answers = this.#answers.get(key) ?? { exchanges: [], taken: 0 };
    answers.exchanges.push(exchange);
    this.#answers.set(key, answers);
  }

  async #contentOf({ request: { body } }: RecordedExchange): Promise<JsonValue | undefined> {
    if (body?.file === undefined) return body?.json;
    return Buffer.from(await this.#folder.readBytes(body.file)).toString('base64');
  }

  async #bodyOf(body: RecordedExchange['response']['body']): Promise<string | Uint8Array> {
    if (body?.file !== undefined) return this.#folder.readBytes(body.file);
    return body?.text ?? (body?.json === undefined ? '' : stringifyJson(body.json));
  }
}
